import assert from 'node:assert/strict';
import { test } from 'node:test';
import { signalFile } from '../../src/cli/signal-file.ts';
import { describeSignal } from '../../src/explain/describe-signal.ts';
import { captured } from '../support/captured.ts';
import { goldenBatch } from '../support/golden-batches.ts';

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
