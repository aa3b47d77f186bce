import assert from 'node:assert/strict';
import { test } from 'node:test';
import { signalFile } from '../../src/cli/signal-file.ts';
import { describeSignal } from '../../src/explain/describe-signal.ts';
import type { Batch } from '../../src/format/batch.ts';
import { verifyBatch } from '../../src/verify/verify-batch.ts';
import { captured } from '../support/captured.ts';
import { goldenBatch } from '../support/golden-batches.ts';
import { randomFrom } from '../support/random-batch.ts';

test('a key that decides the return explains all of it, and a shuffled one what chance gives', () => {
  const batch = goldenBatch('alfworld-scale');
  const byObservation = Float64Array.from(batch.observation!);
  const [observation, , , step] = describeSignal({ ...batch, reportedStepReward: byObservation }).keys;
  assert.deepEqual([observation!.explained, observation!.adjusted], [1, 1]);
  assert.ok(step!.explained! < 1);
  const random = byObservation.map((_, row) => Math.abs(Math.sin(row * 12.9898) * 43758.5453) % 1);
  const [shuffled] = describeSignal({ ...batch, reportedStepReward: random }).keys;
  assert.ok(Math.abs(shuffled!.adjusted!) < 0.1, `${shuffled!.adjusted}`);
  assert.ok(
    shuffled!.explained! > shuffled!.byChance![0] * 0.9 &&
      shuffled!.explained! < shuffled!.byChance![1] * 1.1,
  );
});

test('rows of a group without success have an advantage from penalties only', () => {
  const { shares, keys } = describeSignal(goldenBatch('graphgpo-no-success'));
  assert.equal(shares.groupWithoutSpread, 1);
  assert.ok(shares.penaltyOnly! > 0.5);
  assert.equal(keys.length, 5);
  assert.equal(describeSignal(goldenBatch('graphgpo-worked')).shares.groupWithoutSpread, 0);
  // A, C, B and D: A 6 rows, C 2, B 2, D 1.
  assert.equal(describeSignal(goldenBatch('graphgpo-worked')).clusterSize, (36 + 4 + 4 + 1) / 11);
});

test('prints the description with its label, or as JSON', async () => {
  const streams = captured();
  assert.equal(await signalFile('test/golden/graphgpo.json.gz', { batch: 'graphgpo-worked' }, streams.io), 0);
  assert.match(streams.out(), /11 rows: describes the signal, does not predict success/);
  const asJson = captured();
  await signalFile('test/golden/graphgpo.json.gz', { batch: 'graphgpo-worked', json: true }, asJson.io);
  assert.equal((JSON.parse(asJson.out()) as { batches: unknown[] }).batches.length, 1);
});

test('the mean of a context is off only as far as the context matters, and noise is taken off', () => {
  const rows = 4000;
  const int = (of: (row: number) => number) => Int32Array.from({ length: rows }, (_, row) => of(row));
  // Trajectories of two steps: the second step has one observation, the first one of two.
  const first = (row: number) => 1 + (Math.floor(row / 2) % 2);
  const batch: Batch = {
    ...goldenBatch('alfworld-scale'),
    rows,
    group: int(() => 0),
    groupNames: ['g'],
    trajectory: int((row) => Math.floor(row / 2)),
    trajectoryNames: Array.from({ length: rows / 2 }, (_, t) => `t${t}`),
    step: int((row) => row % 2),
    observation: int((row) => (row % 2 === 1 ? 0 : first(row))),
  };
  const random = randomFrom(7);
  const noise = () => random() + random() - 1;
  const matters = Float64Array.from({ length: rows }, (_, row) => (row % 2 === 1 ? first(row) : noise()));
  const without = matters.map(noise);
  // Of all rows, those of the second steps are off by half the distance of the contexts, one deviation of theirs.
  assert.ok(describeSignal(batch, matters).contextBias! > 0.5);
  assert.ok(describeSignal(batch, without).contextBias! < 0.02);
  assert.equal(describeSignal(batch, without).contextInconsistency! > 0.2, true);
});

test('a report describes whole groups with a quarter of the rows, and says how many', () => {
  const batch = goldenBatch('alfworld-scale');
  const { signal, partsDisagree } = verifyBatch(batch).diagnosis!;
  const sizes = batch.groupNames.map((_, g) => batch.group.filter((one) => one === g).length);
  let expected = 0;
  for (const n of sizes) if (expected < batch.rows / 4) expected += n;
  assert.equal(signal!.rows, expected);
  const isIn = (row: number) =>
    batch.group[row]! < sizes.length && sumBefore(sizes, batch.group[row]!) < batch.rows / 4;
  const zero = batch.reportedAdvantage!.filter((a, row) => isIn(row) && a === 0).length;
  assert.equal(signal!.shares.advantageZero, zero / expected);
  assert.ok(partsDisagree > 0 && partsDisagree < 1);
  const small = goldenBatch('graphgpo-worked');
  assert.deepEqual(verifyBatch(small).diagnosis!.signal, describeSignal(small));
});

const sumBefore = (sizes: readonly number[], g: number) => sizes.slice(0, g).reduce((sum, n) => sum + n, 0);

test('rows in groups without success are counted, if there are next observations', () => {
  assert.equal(describeSignal(goldenBatch('graphgpo-no-success')).shares.groupWithoutGoal, 1);
  assert.equal(describeSignal(goldenBatch('graphgpo-worked')).shares.groupWithoutGoal, 0);
  assert.equal(describeSignal(goldenBatch('alfworld-scale')).shares.groupWithoutGoal, null);
});
