import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { EXIT } from 'echelon-verify/cli/exit';
import type { AttemptEvent } from '../../../../src/core/events.ts';
import type { Artifact } from '../../../../src/schemas/records.ts';
import { apiFor, keptOutput, runProgram } from '../../../support/cli.ts';
import { REPLAY } from '../../../support/http-app.ts';
import { claimed, running } from '../../../support/store.ts';

describe('commands on experiments that are there', () => {
  let api: Awaited<ReturnType<typeof apiFor>>;
  const releases: (() => Promise<void>)[] = [];
  before(async () => {
    api = await apiFor({ after: (release) => void releases.push(release) });
  });
  after(async () => {
    for (const release of releases.reverse()) await release();
  });

  const submitted = async () => (await api.client.post('/v1/experiments', { body: REPLAY })).id;
  async function run(args: string[]) {
    const output = keptOutput();
    const end = await runProgram(output, [...args, ...api.connection]);
    return { output, ...end };
  }

  test('rerun prints the id of a new one, the same for the same key', async () => {
    const id = await submitted();
    const [first, second] = [
      await run(['rerun', id, '--idempotency-key', 'r1']),
      await run(['rerun', id, '--idempotency-key', 'r1']),
    ];
    assert.deepEqual(first.output.lines, second.output.lines);
    assert.equal((await api.store.experiments.get(first.output.lines[0]!))?.rerunOf, id);
    assert.equal((await run(['rerun', 'exp-00000000000000000000'])).exitCode, EXIT.refused);
  });

  test('rerun with changes submits the changed spec in the same project', async () => {
    const id = await submitted();
    const { output } = await run([
      'rerun',
      id,
      '--set',
      'replay.batches=7',
      '--name',
      'again',
      '--priority',
      '3',
    ]);
    const made = (await api.store.experiments.get(output.lines[0]!))!;
    assert.deepEqual([made.name, made.priority, made.project], ['again', 3, 'default']);
    assert.equal((made.resolved as { replay: { batches: number } }).replay.batches, 7);
    assert.equal((await run(['rerun', id, '--set', 'name.x=1'])).exitCode, EXIT.usage);
  });

  test('attempts tells where each ran and how it ended, inert', async () => {
    const lease = await running(api.store);
    const end: Extract<AttemptEvent, { type: 'ended' }> = {
      type: 'ended',
      cause: 'failed',
      exitCode: 1,
      signal: 0,
      message: 'no room\u001b[2J',
      lastLines: [],
    };
    await api.store.events.append(lease, [{ sequence: 1, at: 0, event: end }]);
    const shown = await run(['attempts', lease.experiment]);
    assert.match(shown.output.lines[0]!, /\n1 +\S+ +2\S+Z +2\S+Z +1 +failed: no room\\u001b\[2J$/);
    const asJson = await run(['attempts', lease.experiment, '--json']);
    assert.equal(asJson.output.json<{ items: unknown[] }>().items.length, 1);
    assert.match((await run(['attempts', await submitted()])).output.lines[0]!, /No attempts yet/);
  });

  test('attempts says once that one was stopped', async () => {
    const lease = await running(api.store);
    const end = { type: 'ended', cause: 'stopped', exitCode: 143, signal: 0, lastLines: [] } as const;
    const event = { ...end, lastLines: [], message: 'stopped: by a rule (exit code 143)' };
    await api.store.events.append(lease, [{ sequence: 1, at: 0, event }]);
    const shown = await run(['attempts', lease.experiment]);
    assert.match(shown.output.lines[0]!, / stopped: by a rule \(exit code 143\)$/);
    assert.doesNotMatch(shown.output.lines[0]!, /stopped: stopped/);
  });

  test('artifacts lists checkpoints, paths inert', async () => {
    const lease = await running(api.store);
    const event = { type: 'checkpoint', step: 5, path: '/shared/\u001b[31m5' } as const;
    await api.store.events.append(lease, [{ sequence: 1, at: 0, event }]);
    const shown = await run(['artifacts', lease.experiment]);
    assert.match(
      shown.output.lines[0]!,
      /checkpoint +5 +1 +1970-01-01T00:00:00\.000Z +\/shared\/\\u001b\[31m5/,
    );
    const asJson = await run(['artifacts', lease.experiment, '--json']);
    assert.equal(asJson.output.json<{ items: Artifact[] }>().items[0]!.path, event.path);
    const none = await claimed(api.store, await submitted());
    assert.match((await run(['artifacts', none.experiment])).output.lines[0]!, /No artifacts/);
  });
});
