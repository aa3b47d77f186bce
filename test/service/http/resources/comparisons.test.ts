import assert from 'node:assert/strict';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { after, test } from 'node:test';
import type { ComparisonPlan, SweepRequest } from 'echelon-client/calls';
import type { EvaluationEvent } from '../../../../src/core/events.ts';
import { makeChild } from '../../../../src/plan/sweep.ts';
import { RETENTION_STAGES } from '../../../../src/schemas/retention.ts';
import { apiFor, keptOutput, runProgram } from '../../../support/cli.ts';
import { endRun } from '../../../support/comparison-scene.ts';
import { expandAll } from '../../../support/sweep.ts';

const { store, client, connection } = await apiFor({ after });

const PLAN: ComparisonPlan = {
  name: 'b against a',
  spec: { engine: 'local' },
  methods: [
    { name: 'a', set: { estimator: { name: 'gigpo' } } },
    { name: 'b', set: { estimator: { name: 'hgpo' } } },
  ],
  baseline: 'a',
  seeds: [1, 2, 3],
  panel: 'rooms',
  step: 40,
  replicates: 2,
  margin: 5,
  deviation: 4,
};

/** A comparison with its experiments, each seed with all methods. */
async function submitted(changes: Partial<ComparisonPlan> = {}) {
  const { id } = await client.post('/v1/comparisons', { body: { ...PLAN, ...changes } });
  return { id, runs: await expandAll(store, id, makeChild) };
}

/** Ends a run after an evaluation in which so many of ten games are solved. */
async function ended(experiment: string, solved: number | null, changes: Partial<EvaluationEvent> = {}) {
  const games = [1, 2].flatMap((replicate) =>
    Array.from({ length: 10 }, (_one, at) => ({
      ...{ game: `room-${at}`, replicate, success: Number(at < (solved ?? 0)), score: 0, steps: 3 },
      invalidSteps: 0,
    })),
  );
  const evaluation: EvaluationEvent = {
    ...{ type: 'evaluation', step: 40, panel: 'rooms', digest: 'd'.repeat(64), decoding: { t: '1' }, games },
    ...changes,
  };
  await endRun(store, experiment, { evaluation: solved === null ? null : evaluation });
}

/** Deletes an ended experiment in all stages, as retention does. */
async function expired(experiment: string) {
  await store.rules.dropSignals(experiment);
  assert.equal(await store.archive.archiveStream(experiment), 'archived');
  for (const stage of RETENTION_STAGES)
    assert.equal(await store.retention.expire(stage, experiment), 'expired');
}

const read = (id: string) => client.get('/v1/comparisons/{id}', { path: { id } });

async function cli(...argv: string[]): Promise<string> {
  const output = keptOutput();
  await runProgram(output, ['comparison', ...argv, ...connection]);
  return output.lines.join('\n');
}

test('a plan says before its runs what it needs, and refuses what it does not declare', async () => {
  const figures = await client.post('/v1/comparisons/preview', { body: PLAN });
  assert.deepEqual([figures.runs, figures.level, figures.seedsNeeded, figures.gpuHours], [6, 0.95, 8, 0]);
  assert.match(figures.warnings.join(), /3 seeds do not show a difference of 5 points/);
  const refused = async (changes: object, message: RegExp) =>
    await assert.rejects(
      client.post('/v1/comparisons', { body: { ...PLAN, ...changes } }),
      (error: Error & { problems?: unknown }) =>
        message.test(JSON.stringify(error)) || message.test(error.message),
    );
  const [a, b] = PLAN.methods;
  const faster = { ...b!.set, 'training.learningRate': 0.1 };
  await refused({ methods: [a!, { name: 'b', set: faster }] }, /all set the same fields/);
  const both = [
    { name: 'a', set: { ...a!.set, 'training.learningRate': 0.1 } },
    { name: 'b', set: faster },
  ];
  await refused({ methods: both }, /no field of the estimator/);
  await refused({ earlyStopping: {} }, /earlyStopping/);
  const rules = (rule: object) => ({ spec: { ...PLAN.spec, rules: [rule] } });
  await refused(rules({ preset: 'plateau', do: 'stop' }), /plateau, which stops runs by their metrics/);
  for (const rule of [
    { preset: 'plateau' },
    { preset: 'wrong-rows', do: 'stop' },
    { preset: 'not-finite', do: 'stop' },
  ])
    await client.post('/v1/comparisons/preview', { body: { ...PLAN, ...rules(rule) } });
  await refused({ looks: [2] }, /ascend to all 3 seeds/);
  await client.post('/v1/comparisons/preview', {
    body: { ...PLAN, methods: both, declared: ['training.learningRate'] },
  });
});

test('the result is there once all seeds have ended, counts a failed run, and is recomputed from its CSV', async () => {
  const { id, runs } = await submitted();
  for (const [at, solved] of [5, 8, 4, 8, 6].entries()) await ended(runs[at]!, solved);
  assert.deepEqual([(await read(id)).results, (await read(id)).look], [[], { seeds: 0, complete: 2 }]);
  await ended(runs[5]!, null);
  const { results, findings, runs: shown, differing } = await read(id);
  assert.deepEqual(shown.at(-1), {
    ...{ method: 'b', seed: 3, experiment: runs[5], state: 'failed', success: 0, isCounted: true },
    ...{ rowsSeen: 0, rowsVerified: 0, wrong: 0, signal: null },
  });
  assert.match(findings.join(), /b, seed 3 .* failed: each of its games counts with success 0/);
  assert.deepEqual(
    results[0]?.differences.map((one) => Math.round(100 * one)),
    [30, 40, -60],
  );
  assert.match(
    results[0]!.sentence,
    /^b is not decided to be better or worse; \d+ more seeds would be needed$/,
  );
  assert.equal(differing[0]?.success.length, 2);
  assert.match(
    await cli('get', id),
    /b is not decided .*\(against a\)\ndifference \+3\.3 points, 95\.0 % interval/,
  );
  assert.match(await cli(), /b against a/);
  const folder = await mkdtemp(join(tmpdir(), 'games-'));
  const file = join(folder, 'games.csv');
  await cli('export', id, file);
  const csv = (await readFile(file, 'utf8')).trimEnd().split('\n');
  await rm(folder, { recursive: true });
  assert.equal(csv.length, 1 + 6 * 20);
  assert.match(csv.at(-1)!, /^b,3,room-9,2,0,0,0,0,exp-.*,failed$/);
});

test('a sampled panel, another panel and a missing evaluation refuse the paired table', async () => {
  const { id, runs } = await submitted({ seeds: [1, 2] });
  await ended(runs[0]!, 5);
  await ended(runs[1]!, 5, { digest: '' });
  await ended(runs[2]!, 5, { digest: 'e'.repeat(64) });
  await ended(runs[3]!, 5, { step: 39 });
  const { refusals, results } = await read(id);
  assert.deepEqual(results, []);
  assert.match(refusals.join('\n'), /sampled panel[\s\S]*another panel[\s\S]*no evaluation of step 40/);
});

test('a planned look reads the first seeds only, at its own level, and other sweeps are no comparisons', async () => {
  const { id, runs } = await submitted({ seeds: [1, 2, 3, 4], looks: [2, 4] });
  for (const at of [0, 1, 2, 3, 6, 7]) await ended(runs[at]!, 5 + (at % 2));
  const { look, results, figures } = await read(id);
  assert.deepEqual([look, results[0]?.seeds], [{ seeds: 2, complete: 2 }, 2]);
  assert.ok(Math.abs(figures.level - 0.95196) < 1e-9);
  const sweep = await client.post('/v1/sweeps', {
    body: {
      name: 's',
      method: 'list',
      spec: { engine: 'local', estimator: { name: 'grpo' } },
      axes: { 'training.seed': [1] },
    },
  });
  await assert.rejects(read(sweep.id), /no comparison/);
});

test('a page of comparisons is full although other sweeps stand between them', async () => {
  const sweep = {
    name: 's',
    method: 'list',
    spec: { engine: 'local', estimator: { name: 'grpo' } },
    axes: { 'training.seed': [1] },
  } satisfies SweepRequest;
  const ids: string[] = [];
  for (let at = 0; at < 3; at += 1) {
    ids.unshift((await submitted()).id);
    await client.post('/v1/sweeps', { body: sweep });
  }
  const first = await client.get('/v1/comparisons', { query: { limit: 2 } });
  const second = await client.get('/v1/comparisons', { query: { limit: 2, cursor: first.next! } });
  const listed = [...first.items, ...second.items].map(({ id }) => id);
  assert.deepEqual([first.items.length, second.items.length, listed.slice(0, 3)], [2, 2, ids]);
  const { items } = await client.get('/v1/comparisons', { query: { project: 'default', limit: 200 } });
  assert.ok(items.every(({ plan }) => plan.name === PLAN.name));
});

test('the result outlives the events and the records of its runs, and a repeated run replaces the failed one', async () => {
  const { id, runs } = await submitted();
  for (const [at, solved] of [5, 8, 4, 8, 6, null].entries()) await ended(runs[at]!, solved);
  const before = [await read(id), await client.get('/v1/comparisons/{id}/games', { path: { id } })];
  assert.ok((await store.comparisons.withEndedRuns(1000)).includes(id));
  for (let repetition = 0; repetition < 2; repetition += 1) await store.comparisons.recordRuns(id);
  assert.ok(!(await store.comparisons.withEndedRuns(1000)).includes(id));
  for (const run of runs.slice(0, 5)) await expired(run);
  assert.deepEqual(
    [await read(id), await client.get('/v1/comparisons/{id}/games', { path: { id } })],
    before,
  );
  await client.post('/v1/sweeps/{id}/rerun-failed', { path: { id } });
  const { runs: shown, results } = await read(id);
  assert.deepEqual([shown[5]?.state, results], ['queued', []]);
  await ended(shown[5]!.experiment, 9);
  assert.ok((await store.comparisons.withEndedRuns(1000)).includes(id));
  await store.comparisons.recordRuns(id);
  for (const run of [runs[5]!, shown[5]!.experiment]) await expired(run);
  const { results: after, runs: last } = await read(id);
  assert.deepEqual([after[0]?.seeds, last[5]?.success, last[5]?.isCounted], [3, 0.9, false]);
  const until = { endedBefore: Date.now() + 10 ** 9, limit: 100, cursor: null };
  await store.retention.expireSweeps('default', until);
  await assert.rejects(read(id), /There is no comparison/);
  const { items } = await client.get('/v1/comparisons', { query: { limit: 200 } });
  assert.ok(items.every((one) => one.id !== id));
});

test('a repeated submission with one idempotency key makes one comparison', async () => {
  const file = join(await mkdtemp(join(tmpdir(), 'echelon-plan-')), 'plan.json');
  after(() => rm(dirname(file), { recursive: true, force: true }));
  await writeFile(file, JSON.stringify(PLAN));
  const ids = [];
  for (const key of ['one', 'one', 'two']) ids.push(await cli('submit', file, '--idempotency-key', key));
  assert.equal(ids[0], ids[1]);
  assert.notEqual(ids[0], ids[2]);
});
