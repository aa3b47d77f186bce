import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { stripVTControlCharacters } from 'node:util';
import type { ExperimentDetail } from 'echelon-client/calls';
import { watchExperiment } from '../../../../src/cli/commands/watch.ts';
import { liveLines } from '../../../../src/cli/commands/watch-live.ts';
import { apiFor, keptOutput } from '../../../support/cli.ts';
import { running, submitInput } from '../../../support/store.ts';

const { store, client } = await apiFor({ after });

async function detail(id: string, changes: object): Promise<ExperimentDetail> {
  return { ...(await client.get('/v1/experiments/{id}', { path: { id } })), ...changes };
}

const linesOf = (experiment: ExperimentDetail, first = { at: 0, step: 0 }, now = 60_000) =>
  liveLines(experiment, first, now).map(stripVTControlCharacters);

test('the block of a running experiment shows bar, step, time left, success and verified rows', async () => {
  const { experiment: id } = await running(store, { input: { name: 'seed 1' } });
  const progress = { stage: 'update', step: 5, steps: 20, metrics: { 'episode/success_rate': 0.25 } };
  const { verification } = await detail(id, {});
  const checked = { ...verification, rowsSeen: 10, rowsVerified: 8, wrong: 1, signal: 'wrong' as const };
  const shown = linesOf(await detail(id, { progress, verification: checked, startedAt: 0 }), {
    at: 0,
    step: 2,
  });
  assert.deepEqual(shown, [
    'seed 1  running, signal wrong  60 s',
    `  [${'█'.repeat(6)}${'░'.repeat(18)}] step 5 of 20, 5 min left`,
    '  success 25 % | rows verified 8/10, 1 wrong',
    '  update',
  ]);
});

test('the time left is that of the pace since the start while no step has passed', async () => {
  const { experiment: id } = await running(store);
  const progress = { stage: '', step: 5, steps: 20, metrics: {} };
  const [, bar] = linesOf(await detail(id, { progress, startedAt: 0 }), { at: 50_000, step: 5 });
  assert.match(bar!, /step 5 of 20, 3 min left$/);
});

test('the block of a queued experiment shows its position and why it waits', async () => {
  const { id } = await store.experiments.submit(submitInput({ gpus: 4, name: 'waiting' }));
  await store.queue.note(new Map([[id, { reason: 'needs 4 GPUs', rank: 1 }]]));
  const shown = linesOf(await detail(id, {}));
  assert.equal(shown[0], 'waiting  queued');
  assert.match(shown[1]!, /^ {2}position \d+ of \d+: needs 4 GPUs/);
});

test('a watch on a terminal shows the block until the end, elsewhere it prints lines', async () => {
  const { id } = await store.experiments.submit(submitInput({ name: 'live' }));
  await store.experiments.cancel(id, 'enough');
  const shown: string[][] = [];
  const output = {
    ...keptOutput(),
    block: () => ({ show: (lines: readonly string[]) => void shown.push([...lines]) }),
  };
  await assert.rejects(watchExperiment({ client, id, output, json: false }), /cancelled: enough/);
  assert.equal(stripVTControlCharacters(shown.at(-1)![0]!), 'live  cancelled');
  assert.equal(output.lines.length, 0);
  shown.length = 0;
  const piped = keptOutput();
  await assert.rejects(watchExperiment({ client, id, output: piped, json: false }), /cancelled: enough/);
  assert.deepEqual(shown, []);
  assert.ok(piped.lines.some((line) => line.includes('cancelled')));
});
