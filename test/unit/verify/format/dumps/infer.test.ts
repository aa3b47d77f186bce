import assert from 'node:assert/strict';
import { test } from 'node:test';
import { batchFingerprint } from '../../../../../src/verify/format/batch.ts';
import { estimatorFrom, namesOf } from '../../../../../src/verify/format/dumps/dump-batch.ts';
import { inferEstimator } from '../../../../../src/verify/format/dumps/infer.ts';

const step = (reward: number[], advantage: number[]) => ({
  name: 's',
  file: 'f',
  group: namesOf(reward.map(() => 'g')),
  reward: Float64Array.from(reward),
  advantage: Float64Array.from(advantage),
  findings: [],
});

test('advantages of an unknown trainer tell the estimator', () => {
  const rewards = [1, 0, 0, 0];
  const fingerprints = (scale: number): string[] => {
    const { best, others } = inferEstimator(
      [
        step(
          rewards,
          rewards.map((r) => (r - 0.25) * scale),
        ),
      ],
      [],
    );
    return [best, ...others].flatMap((fit) => fit?.estimator ?? []).map(batchFingerprint);
  };
  assert.match(fingerprints(1)[0]!, /^grpo\(std=none/);
  assert.match(fingerprints(4 / 3)[0]!, /^rloo/);
  assert.deepEqual([fingerprints(1).length > 0, fingerprints(2.5)], [true, []]);
  assert.match(fingerprints(1 / (0.5 + 1e-4))[0]!, /std=sample,eps=1e-4/);
});

test('rows that all estimators explain leave all of them', () => {
  const { best, others } = inferEstimator(
    [step([1, 1], [0, 0])],
    [estimatorFrom({ name: 'grpo' }), estimatorFrom({ name: 'rloo' }), estimatorFrom({ name: 'rloo' })],
  );
  assert.deepEqual([best?.estimator.name, others.map(({ estimator }) => estimator.name)], ['grpo', ['rloo']]);
});

test('nothing is inferred from nothing', () => {
  assert.equal(inferEstimator([], []).best, undefined);
});
