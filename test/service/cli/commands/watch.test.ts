import assert from 'node:assert/strict';
import { test } from 'node:test';
import { CliError, EXIT } from 'command-kit/exit';
import { createClient } from '../../../../src/cli/client.ts';
import { watchExperiment, watchFeed } from '../../../../src/cli/commands/watch.ts';
import type { ControllerEvent } from '../../../../src/core/events.ts';
import { apiFor, keptOutput, runProgram } from '../../../support/cli.ts';
import { running, submitInput } from '../../../support/store.ts';

async function ended(
  t: { after(release: () => Promise<void>): void },
  wrong: number,
  unverifiable = 0,
  errors: string[] = wrong ? ['wrong-rows'] : [],
) {
  const { store, client } = await apiFor(t);
  const lease = await running(store);
  const id = lease.experiment;
  const part = {
    type: 'batch',
    step: 1,
    batch: 1,
    index: 0,
    count: 1,
    rows: 4,
    digest: '',
    bytes: 3,
  } as const;
  const data = new Uint8Array([1, 2, 3]);
  const digest = Buffer.from(await crypto.subtle.digest('SHA-256', data)).toString('hex');
  await store.events.append(lease, [
    { sequence: 1, at: 1, event: { type: 'stage', name: 'saving\u001b[2J', step: 1, steps: 9 } },
    {
      sequence: 2,
      at: 2,
      event: { type: 'metrics', step: 1, values: { 'episode/success_rate': 0.25, other: 1 } },
    },
    { sequence: 3, at: 3, event: { ...part, digest }, data },
    { sequence: 4, at: 4, event: { type: 'log', source: 'stdout', lines: ['noise'], cutBytes: 0 } },
    {
      sequence: 5,
      at: 5,
      event: { type: 'ended', cause: 'succeeded', exitCode: 0, signal: 0, message: '', lastLines: [] },
    },
  ]);
  await store.attempts.end(lease, { to: 'succeeded', reason: 'done' });
  const [record] = await store.batches.takePending(1, { holder: 'verifier-1', leaseMs: 1000 });
  const report: Extract<ControllerEvent, { type: 'verification' }> = {
    type: 'verification',
    attempt: 1,
    batch: 1,
    step: 1,
    rows: 4,
    exact: 4 - wrong - unverifiable,
    rounding: 0,
    wrong,
    unverifiable,
    errors,
    ok: wrong + unverifiable + errors.length === 0,
  };
  const findings = errors.map((code) => ({ code, severity: 'error', rows: [], message: '' }));
  const rest = { name: 'step 1', fingerprint: 'hgpo()', wrongRows: [], roundingRows: [], findings };
  await store.batches.report(record!, report, { ...report, step: undefined, ...rest });
  return { client, id };
}

test('a succeeded experiment is followed to its end with one line per event that is shown', async (t) => {
  const { client, id } = await ended(t, 0);
  const output = keptOutput();
  await watchExperiment({ client, id, output, json: false });
  const text = output.lines.join('\n');
  for (const part of [
    'queued',
    'running',
    'saving\\u001b[2J (1 of 9)',
    'step 1: episode/success_rate 0.250',
    '4 rows',
    'succeeded: done',
  ])
    assert.ok(text.includes(part), `${part} in\n${text}`);
  assert.doesNotMatch(text, /noise|other/);
  assert.match(output.remarks[0]!, new RegExp(`Following ${id}\\. Ctrl-C`));
  assert.match(output.remarks.at(-1)!, /^4 of 4 rows verified, 0 wrong\. /);
});

test('an unknown experiment is refused before anything is announced', async (t) => {
  const { client } = await apiFor(t);
  const output = keptOutput();
  await assert.rejects(
    watchExperiment({ client, id: 'exp-00cz8h3k7n2q4r5s6t7v', output, json: false }),
    /There is no experiment/,
  );
  assert.deepEqual(output.remarks, []);
});

test('a wrong row leads to exit status 1', async (t) => {
  const { client, id } = await ended(t, 2);
  const output = keptOutput();
  await assert.rejects(
    watchExperiment({ client, id, output, json: false }),
    (error: unknown) =>
      error instanceof CliError && error.exitCode === EXIT.notOk && /2 wrong rows/.test(error.message),
  );
  assert.match(output.lines.join('\n'), /NOT ok: 2 of 4 rows wrong \(wrong-rows\)$/m);
});

test('a batch that contradicts itself leads to exit status 1 with the reason, although every row is right', async (t) => {
  const { client, id } = await ended(t, 0, 0, ['steps-out-of-order']);
  const why = 'steps-out-of-order in 1 batch; first in batch 1/1, step 1';
  await assert.rejects(watchExperiment({ client, id, output: keptOutput(), json: false }), {
    message: `${id}: wrong training signal: ${why}. See \`echelon batches ${id} --not-ok\`.`,
    exitCode: EXIT.notOk,
  });
});

test('batches without anything to verify do not make watch fail, and its line does not call them wrong', async (t) => {
  const { client, id } = await ended(t, 0, 4);
  const output = keptOutput();
  await watchExperiment({ client, id, output, json: false });
  assert.match(output.lines.join('\n'), /batch of step 1: 4 of 4 rows unverifiable$/m);
});

test('--json prints one line per event, and --after only later events', async (t) => {
  const { client, id } = await ended(t, 0);
  const [all, rest] = [keptOutput(), keptOutput()];
  await watchExperiment({ client, id, output: all, json: true });
  const events = all.lines.map((line) => JSON.parse(line) as { id: string });
  await watchExperiment({ client, id, output: rest, json: true, after: events[3]!.id });
  assert.deepEqual(rest.lines, all.lines.slice(4));
});

test('without an id, watch prints one line per event of a project or of all projects', async (t) => {
  const { store, client } = await apiFor(t);
  const { id } = await store.experiments.submit(submitInput({ name: 'first\u001b[2J' }));
  await store.experiments.submit(submitInput({ project: 'other', name: 'second' }));
  await store.experiments.cancel(id, 'enough');
  const watch = async (project: string | undefined, most: number, json = false) => {
    const stop = new AbortController();
    const output = keptOutput();
    const line = (text = '') => {
      output.line(text);
      if (output.lines.length === most) stop.abort();
    };
    await watchFeed({ client, project, output: { ...output, line }, json, after: '0', signal: stop.signal });
    return output.lines;
  };
  const lines = await watch('default', 2);
  assert.match(
    lines[0]!,
    new RegExp(`^\\d\\d:\\d\\d:\\d\\d  ${id}  first\\\\u001b\\[2J  queued: submitted$`),
  );
  assert.match(lines[1]!, /cancelled: enough$/);
  const all = await watch(undefined, 3);
  assert.match(all[1]!, / {2}other {2}exp-/);
  const [entry] = (await watch('default', 1, true)).map((line) => JSON.parse(line));
  assert.deepEqual([entry.id, entry.experiment, entry.event.to], ['1', id, 'queued']);
});

test('a trimmed feed continues from now with a message', async (t) => {
  const { client } = await apiFor(t);
  const output = keptOutput();
  const stop = new AbortController();
  let calls = 0;
  const trimmed = {
    ...client,
    feed: async function* (_project: string | undefined, { after }: { after?: string | undefined }) {
      calls++;
      if (after !== undefined) throw new CliError(EXIT.refused, 'not kept any more', 'history-trimmed');
      yield* [];
    },
  };
  await watchFeed({
    client: trimmed,
    project: 'default',
    output,
    json: false,
    after: '3',
    signal: stop.signal,
  });
  assert.equal(calls, 2);
  assert.match(output.remarks[1]!, /Missed events: not kept/);
});

// Without a remark no step follows, so a limit makes a failure visible.
test('the position and the wait reason of a queued experiment are printed once, and again after a change', {
  timeout: 60_000,
}, async (t) => {
  const { store, client } = await apiFor(t);
  const { id } = await store.experiments.submit(submitInput({ gpus: 4 }));
  await store.queue.note(new Map([[id, { reason: 'needs 4 GPUs', rank: 1 }]]));
  const output = keptOutput();
  const said = (reason: string) => output.remarks.filter((text) => text.includes(reason)).length;
  const steps = [
    () => store.queue.note(new Map([[id, { reason: 'needs 4 GPUs; none is free', rank: 1 }]])),
    () => store.experiments.cancel(id, 'enough'),
  ];
  // Each remark triggers the next step. Two polls with the same reason print one remark.
  const remark = (text: string) => {
    output.remarks.push(text);
    if (text.includes('queued at')) void steps.shift()?.();
  };
  await assert.rejects(
    watchExperiment({ client, id, output: { ...output, remark }, json: false, pollMs: 1 }),
    /cancelled: enough/,
  );
  assert.equal(said('queued at position 1 of 1: needs 4 GPUs'), 2, output.remarks.join('\n'));
  assert.equal(said('none is free'), 1);
});

test('watch follows a sweep by its id', async (t) => {
  const { connection } = await apiFor(t);
  const output = keptOutput();
  const ended = await runProgram(output, ['watch', 'swp-00cz8h3k7n2q4r5s6t7v', ...connection]);
  assert.match(ended.error!.message, /There is no sweep swp-/);
});

test('a key of one project watches that project without --project', async (t) => {
  const { store, client } = await apiFor(t);
  await client.post('/v1/projects', { body: { name: 'vision' } });
  await store.experiments.submit(submitInput({ project: 'vision', name: 'theirs' }));
  const { token } = await client.post('/v1/keys', {
    body: { name: 'k', scopes: ['read'], project: 'vision' },
  });
  const bound = createClient({ url: client.url, token });
  const stop = new AbortController();
  const output = keptOutput();
  const line = (text = '') => {
    output.line(text);
    stop.abort();
  };
  const common = { client: bound, project: undefined, json: false, after: '0', signal: stop.signal };
  await watchFeed({ ...common, output: { ...output, line } });
  assert.match(output.lines[0]!, /theirs/);
  assert.match(output.remarks.join('\n'), /only the project vision/);
});
