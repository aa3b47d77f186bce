import assert from 'node:assert/strict';
import { test } from 'node:test';
import { formsOf, namesOf } from '../../src/dumps/dump-batch.ts';
import { inferEstimator } from '../../src/dumps/infer.ts';
import { batchFingerprint, estimatorFrom } from '../../src/format/batch.ts';

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
    return [best, ...others].flatMap((fit) => fit?.estimator ?? []).map((one) => batchFingerprint(one));
  };
  assert.match(fingerprints(1)[0]!, /^grpo\(std=none/);
  assert.match(fingerprints(4 / 3)[0]!, /^rloo/);
  assert.deepEqual([fingerprints(1).length > 0, fingerprints(2.5)], [true, []]);
  assert.match(fingerprints(1 / (0.5 + 1e-4))[0]!, /std=sample,eps=1e-4/);
});

test('rows that all estimators explain leave all of them', () => {
  const { best, others } = inferEstimator(
    [step([1, 1], [0, 0])],
    [estimatorFrom('grpo'), estimatorFrom('rloo'), estimatorFrom('rloo')],
  );
  assert.deepEqual([best?.estimator.name, others.map(({ estimator }) => estimator.name)], ['grpo', ['rloo']]);
});

test('nothing is inferred from nothing', () => {
  assert.equal(inferEstimator([], []).best, undefined);
});

test('a form that needs response lengths is tried if the dump has them', () => {
  // Mean 0.25 and variance 3/16 over the tokens.
  const whole = step([1, 0, 0, 0], [Math.sqrt(3), ...[1, 1, 1].map(() => -1 / Math.sqrt(3))]);
  const measured = { ...whole, responseLength: Int32Array.of(2, 2, 2, 2) };
  const known = formsOf('nemo-rl').filter(({ name }) => name === 'reinforce_plus_plus');
  assert.equal(inferEstimator([measured], known).best?.estimator.name, 'reinforce_plus_plus');
  assert.equal(inferEstimator([whole], known).best, undefined);
});

test('the inferred form keeps the rule of its trainer for rewards that a later step may lack', () => {
  const { best } = inferEstimator([step([1, 0], [0.5, -0.5])], formsOf('ms-swift'));
  assert.ok(best !== undefined && 'missing' in best.estimator.params);
  assert.equal(best.estimator.params.missing, 'zero');
});
