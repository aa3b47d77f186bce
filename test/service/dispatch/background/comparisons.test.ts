import assert from 'node:assert/strict';
import { test } from 'node:test';
import { recordComparisons } from '../../../../src/dispatch/background/comparisons.ts';
import type { ComparisonPlan } from '../../../../src/schemas/comparison.ts';
import { endRun } from '../../../support/comparison-scene.ts';
import { QUIET } from '../../../support/dispatch.ts';
import { storeFor } from '../../../support/store.ts';
import { expandAll, sweepInput, sweepRequest } from '../../../support/sweep.ts';

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
  await recordComparisons({ store: { ...store, comparisons }, log: QUIET });
  assert.deepEqual(await store.comparisons.withEndedRuns(10), [broken]);
  await recordComparisons({ store, log: QUIET, stopped: () => true });
  assert.deepEqual(await store.comparisons.withEndedRuns(10), [broken]);
  await recordComparisons({ store, log: QUIET });
  assert.deepEqual(await store.comparisons.withEndedRuns(10), []);
  await endRun(store, made[1]!.runs[2]!, { evaluation: null });
  assert.deepEqual(await store.comparisons.withEndedRuns(10), [made[1]!.id]);
  await recordComparisons({ store, log: QUIET });
  const runs = await store.comparisons.runs((await store.sweeps.get(made[1]!.id))!);
  assert.deepEqual(
    runs.map(({ state }) => state),
    ['failed', 'failed', 'failed', 'queued'],
  );
});
