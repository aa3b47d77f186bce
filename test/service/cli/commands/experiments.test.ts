import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { EXIT } from 'command-kit/exit';
import type { AttemptEvent } from '../../../../src/core/events.ts';
import type { Experiment } from '../../../../src/schemas/experiment.ts';
import { apiFor, keptOutput, runProgram } from '../../../support/cli.ts';
import { REPLAY } from '../../../support/http-app.ts';
import { claimed, recordBatch, running, submitInput } from '../../../support/store.ts';

describe('commands on experiments', () => {
  let api: Awaited<ReturnType<typeof apiFor>>;
  let file: string;
  const releases: (() => Promise<void>)[] = [];
  before(async () => {
    api = await apiFor({ after: (release) => void releases.push(release) });
    const directory = await mkdtemp(join(tmpdir(), 'echelon-commands-'));
    releases.push(() => rm(directory, { recursive: true }));
    file = join(directory, 'spec.yaml');
    await writeFile(file, 'name: from a file\nengine: replay\nreplay:\n  fault: none\n');
  });
  after(async () => {
    for (const release of releases.reverse()) await release();
  });

  async function run(...args: string[]) {
    const output = keptOutput();
    const ended = await runProgram(output, [...args, ...api.connection]);
    return { output, ...ended };
  }

  test('submit prints the id, which get, ls and cancel know', async () => {
    const { output } = await run('submit', file);
    const id = output.lines[0]!;
    const got = await run('get', id);
    assert.match(got.output.lines[0]!, /^id {12}exp-\w+\nname {10}from a file\nstate {9}queued/);
    assert.match(
      got.output.lines[0]!,
      /position {6}1 of \d+ in the queue\nwait reason {3}no scheduling round yet\nstart {9}unknown: /,
    );
    const listed = await run('ls', '--state', 'queued');
    assert.match(listed.output.lines[0]!, new RegExp(`${id}.*from a file.*queued`));
    const cancelled = await run('cancel', id, '--json');
    assert.equal(cancelled.output.json<Experiment>().state, 'cancelled');
    const watched = await run('watch', id);
    assert.equal(watched.exitCode, EXIT.notOk);
    assert.ok(watched.output.lines.some((line) => line.includes('cancelled')));
  });

  test('notes and tags are written, found and shown, and the columns are those that are named', async () => {
    const id = (await run('submit', file, '--name', 'noted')).output.lines[0]!;
    await run('update', id, '--note', 'diverged \u001b[2J', '--tags', 'baseline, bad-seed');
    assert.match(
      (await run('get', id)).output.lines[0]!,
      /note {10}diverged .*\ntags {10}baseline, bad-seed/,
    );
    const { output } = await run('ls', '--search', 'DIVERGED', '--columns', 'name,tags,note,metric:m');
    assert.equal(
      output.lines[0]!.replace(/ {2,}/g, '|'),
      'NAME|TAGS|NOTE|m\nnoted|baseline, bad-seed|diverged \\u001b[2J|-',
    );
    assert.match((await run('update', id)).error!.message, /Give --priority, --note or --tags/);
    await assert.rejects(run('ls', '--columns', 'nme'), /The columns are id, name/);
  });

  test('the same key and spec give the same experiment', async () => {
    const [first, second] = [
      await run('submit', file, '--idempotency-key', 'k1'),
      await run('submit', file, '--idempotency-key', 'k1'),
    ];
    assert.deepEqual(first.output.lines, second.output.lines);
  });

  test('a dry run shows the exact command and submits nothing', async () => {
    const before = (await api.store.experiments.counts()).queued;
    const { output } = await run('submit', file, '--dry-run');
    assert.match(output.lines[0]!, /^engine: replay$/m);
    assert.match(output.lines[0]!, /^maxAttempts: 3 # default$/m);
    assert.match(
      output.lines[0]!,
      /\n {2}fault: none\n[\s\S]*\n\npython -m echelon_rayworker\.engines\.replay \\\n/,
    );
    assert.equal((await api.store.experiments.counts()).queued, before);
  });

  test('ls filters by states, name and time, over as many pages as it takes', async () => {
    const { output } = await run('submit', file);
    const id = output.lines[0]!;
    const ids = async (...args: string[]) => {
      const listed = await run('ls', '--json', ...args);
      assert.equal(listed.exitCode, EXIT.ok, listed.error?.message);
      return listed.output.json<{ items: { id: string }[] }>().items.map((item) => item.id);
    };
    assert.ok((await ids('--state', 'queued,running', '--search', 'from a', '--since', '1h')).includes(id));
    assert.deepEqual(await ids('--search', 'from b'), []);
    assert.deepEqual(await ids('--until', '1h'), []);
    assert.deepEqual(await ids('--since', '2999-01-01'), []);
    for (let made = 0; made < 3; made++) await run('submit', file);
    assert.equal((await ids('--limit', '3')).length, 3);
    assert.match((await run('ls', '--search', 'from b')).output.lines[0]!, /No experiments match/);
    await assert.rejects(run('ls', '--since', 'yesterday'), /90min, 12h, 7d/);
  });

  test('ls shows the project if there are several', async () => {
    const listed = async (...args: string[]) => (await run('ls', ...args)).output.lines[0]!;
    await run('submit', file);
    assert.doesNotMatch(await listed(), /PROJECT/);
    await api.store.experiments.submit(submitInput({ project: 'vision', name: 'theirs' }));
    assert.match(await listed(), /NAME +PROJECT +STATE.*\nexp-\w+ +theirs +vision +queued/);
    assert.doesNotMatch(await listed('--project', 'vision'), /PROJECT/);
  });

  test('a list that is longer than the limit says so', async () => {
    await run('submit', file);
    await run('submit', file);
    const { output } = await run('ls', '--limit', '1');
    assert.equal(output.lines[0]!.split('\n').length, 2);
    assert.match(output.remarks[0]!, /more/);
  });

  test('logs are printed inert, and end where asked', async () => {
    const { output } = await run('submit', file);
    const lease = await claimed(api.store, output.lines[0]!);
    await api.store.events.append(lease, [
      {
        sequence: 1,
        at: 5,
        event: { type: 'log', source: 'stdout', lines: ['one', '\u001b[31mtwo'], cutBytes: 0 },
      },
    ]);
    assert.deepEqual((await run('logs', lease.experiment)).output.lines, ['one', 'two']);
    assert.deepEqual((await run('logs', lease.experiment, '--tail', '1')).output.lines, ['two']);
  });

  test('metrics of an experiment that recorded none says what their source has seen', async () => {
    const lease = await running(api.store);
    const line =
      'echelon: metrics.lines matched 0 of 1 printed lines; the first without a match is "Loss: 0.5"';
    const events: AttemptEvent[] = [
      { type: 'log', source: 'stderr', lines: [line, 'more'], cutBytes: 0 },
      { type: 'gap', kind: 'reports', step: 0, count: 1, bytes: 0, rows: 0, reason: 'x' },
    ];
    assert.deepEqual((await run('metrics', lease.experiment)).output.lines, ['No metrics yet.']);
    await api.store.events.append(
      lease,
      events.map((event, at) => ({ sequence: at + 1, at: 1, event })),
    );
    await api.store.attempts.end(lease, { to: 'succeeded', reason: 'done' });
    assert.deepEqual((await run('metrics', lease.experiment)).output.lines, [
      `The experiment recorded no metrics. ${line.replace('echelon: ', '')}`,
    ]);
  });

  test('get tells the steps that a restart trained again, and metrics shows them by attempt', async () => {
    const first = await running(api.store);
    const step = (sequence: number, at: number) => {
      const event = { type: 'metrics', step: at, values: { loss: sequence } } as const;
      return { sequence, at: 1, event };
    };
    const data = Buffer.from('a batch');
    for (const batch of [1, 2]) await recordBatch(api.store, first, { batch, data });
    await api.store.events.append(first, [step(3, 1), step(4, 2)]);
    await api.store.attempts.end(first, { to: 'queued', reason: 'the node was lost' });
    const second = await claimed(api.store, first.experiment);
    await api.store.attempts.confirm(second);
    await recordBatch(api.store, second, { batch: 2, sequence: 1, data });
    await api.store.events.append(second, [step(2, 2)]);
    const { output } = await run('get', first.experiment);
    assert.match(output.lines[0]!, /^restart {7}attempt 2 starts at step 2, 1 step trained again$/m);
    const rows = (await run('metrics', first.experiment, 'loss')).output.lines[0]!.split('\n').slice(1);
    assert.match(rows[0]!, /^ATTEMPT +STEPS/);
    assert.deepEqual(
      rows.slice(1).map((row) => row.split(/ +/).slice(0, 2)),
      [
        ['1', '1'],
        ['2', '2'],
      ],
    );
  });

  test('rerun prints the id of a new one, the same for the same key', async () => {
    const id = (await api.client.post('/v1/experiments', { body: REPLAY })).id;
    const [first, second] = [
      await run('rerun', id, '--idempotency-key', 'r1'),
      await run('rerun', id, '--idempotency-key', 'r1'),
    ];
    assert.deepEqual(first.output.lines, second.output.lines);
    assert.equal((await api.store.experiments.get(first.output.lines[0]!))?.rerunOf, id);
    assert.equal((await run('rerun', 'exp-00000000000000000000')).exitCode, EXIT.refused);
  });

  test('rerun with changes submits the changed spec in the same project', async () => {
    const id = (await api.client.post('/v1/experiments', { body: REPLAY })).id;
    const { output } = await run(
      'rerun',
      id,
      '--set',
      'replay.batches=7',
      '--set',
      'name=again',
      '--set',
      'priority=3',
    );
    const made = (await api.store.experiments.get(output.lines[0]!))!;
    assert.deepEqual([made.name, made.priority, made.project], ['again', 3, 'default']);
    assert.equal((made.resolved as { replay: { batches: number } }).replay.batches, 7);
    assert.equal((await run('rerun', id, '--set', 'name.x=1')).exitCode, EXIT.usage);
  });

  test('a refusal names the field and the remedy, and an unknown id is refused', async () => {
    await writeFile(file, 'name: x\nengine: replay\nreplay:\n  falt: none\n');
    const refused = await run('submit', file);
    assert.equal(refused.exitCode, EXIT.refused);
    assert.match(refused.error!.message, /\/replay\/falt: .*fault/);
    assert.equal((await run('get', 'exp-00000000000000000000')).exitCode, EXIT.refused);
  });
});
