import assert from 'node:assert/strict';
import { test } from 'node:test';
import { batchOf, compact, estimatorOfId, formsOf, namesOf } from '../../src/dumps/dump-batch.ts';
import { estimatorFrom } from '../../src/format/batch.ts';

test('a sketch becomes a whole estimator', () => {
  const { params, precision } = estimatorFrom('grpo', { epsilon: 1e-4 });
  assert.deepEqual(
    [params, precision].map((x) => (typeof x === 'object' ? 'epsilon' in x && x.epsilon : x)),
    [1e-4, 'float32'],
  );
});

test('names are dense ids by first appearance, and compact drops the unused', () => {
  const names = namesOf(['b', 'a', 'b']);
  assert.deepEqual(
    [[...names.ids], names.names],
    [
      [0, 1, 0],
      ['b', 'a'],
    ],
  );
  const left = compact({ ids: Int32Array.of(1, 1), names: ['b', 'a'] });
  assert.deepEqual([[...left.ids], left.names], [[0, 0], ['a']]);
});

test('a step becomes a batch whose rows are trajectories, with float32 advantages', () => {
  const step = {
    name: 'step 3',
    file: 'x',
    trainingStep: 3,
    group: namesOf(['a', 'a']),
    reward: Float64Array.of(0.1, 1),
    advantage: Float64Array.of(0.1, 2),
    groupSize: 2,
    findings: [],
  };
  const batch = batchOf(step, estimatorFrom('grpo'));
  assert.deepEqual([...batch.reportedAdvantage!], [Math.fround(0.1), 2]);
  assert.deepEqual([...batch.trajectory], [0, 1]);
  assert.deepEqual(batch.provenance, { trainingStep: 3, groupSize: 2 });
  const inTrajectories = batchOf({ ...step, trajectory: namesOf(['t', 't']) }, batch.estimator);
  assert.deepEqual([[...inTrajectories.trajectory], inTrajectories.step], [[0, 0], undefined]);
});

test('known forms are found by id and by trainer, the default first', () => {
  assert.deepEqual(formsOf('trl')[0], estimatorOfId('trl/grpo'));
  assert.deepEqual(formsOf('unknown'), []);
  assert.throws(() => estimatorOfId('trl/none'), /no known form trl\/none/);
});
