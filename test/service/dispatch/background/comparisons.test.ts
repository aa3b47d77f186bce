import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createComparisonRounds } from '../../../../src/dispatch/background/comparisons.ts';
import type { ComparisonPlan } from '../../../../src/schemas/comparison.ts';
import { endRun } from '../../../support/comparison-scene.ts';
import { QUIET } from '../../../support/dispatch.ts';
import { storeFor } from '../../../support/store.ts';
import { expandAll, sweepInput, sweepRequest } from '../../../support/sweep.ts';

/** One round of a process that has just started. */
const recordAll = (deps: Parameters<typeof createComparisonRounds>[0]) => createComparisonRounds(deps)();

const PLAN: ComparisonPlan = {
  ...{ name: 'c', spec: {}, baseline: 'a', panel: 'rooms', step: 1, replicates: 1, margin: 5, deviation: 5 },
  methods: ['a', 'b'].map((name) => ({ name, set: {} })),
  seeds: [1, 2],
};

test('ended runs of all comparisons are recorded, although one comparison fails, and what follows is recorded later', async (t) => {
  const { store } = await storeFor(t);
  const made = [];
  for (let at = 0; at < 3; at += 1) {
    const { id } = await store.sweeps.create(sweepInput(sweepRequest(4), { comparison: PLAN }));
    made.push({ id, runs: await expandAll(store, id) });
  }
  for (const { runs } of made)
    for (const run of runs.slice(0, 2)) await endRun(store, run, { evaluation: null });
  const broken = made[0]!.id;
  const comparisons = {
    ...store.comparisons,
    async recordRuns(id: string) {
      if (id === broken) throw new Error('the archive is full');
      await store.comparisons.recordRuns(id);
    },
  };
  await recordAll({ store: { ...store, comparisons }, log: QUIET });
  assert.deepEqual(await store.comparisons.withEndedRuns(10), [broken]);
  await recordAll({ store, log: QUIET, stopped: () => true });
  assert.deepEqual(await store.comparisons.withEndedRuns(10), [broken]);
  await recordAll({ store, log: QUIET });
  assert.deepEqual(await store.comparisons.withEndedRuns(10), []);
  await endRun(store, made[1]!.runs[2]!, { evaluation: null });
  assert.deepEqual(await store.comparisons.withEndedRuns(10), [made[1]!.id]);
  await recordAll({ store, log: QUIET });
  const runs = await store.comparisons.runs((await store.sweeps.get(made[1]!.id))!);
  assert.deepEqual(
    runs.map(({ state }) => state),
    ['failed', 'failed', 'failed', 'queued'],
  );
});

test('comparisons of an older version are listed and their ended runs recorded, also those that come while this version runs', async (t) => {
  const { store, redis } = await storeFor(t);
  const createdByOlder = async () => {
    const { id } = await store.sweeps.create(sweepInput(sweepRequest(4), { comparison: PLAN }));
    const [first] = await expandAll(store, id);
    await endRun(store, first!, { evaluation: null });
    for (const key of await redis.keys('{echelon}:comparison*')) await redis.del(key);
    return id;
  };
  const listed = async () =>
    (await store.sweeps.list({ comparisons: true, limit: 10 })).items.map(({ id }) => id);
  const first = await createdByOlder();
  await store.sweeps.create(sweepInput(sweepRequest(2)));
  assert.deepEqual(await listed(), []);
  const round = createComparisonRounds({ store, log: QUIET });
  await round();
  assert.deepEqual(await listed(), [first]);
  assert.ok((await redis.hlen(`{echelon}:sweep:${first}:recorded`)) > 0);
  assert.deepEqual(await store.comparisons.withEndedRuns(10), []);
  const second = await createdByOlder();
  await round();
  assert.ok((await listed()).includes(second));
  assert.ok((await redis.hlen(`{echelon}:sweep:${second}:recorded`)) > 0);
  // The next process examines all of them again.
  for (let repetition = 0; repetition < 2; repetition += 1) await recordAll({ store, log: QUIET });
  assert.deepEqual(await listed(), [second, first]);
  assert.deepEqual(await store.comparisons.withEndedRuns(10), []);
});
