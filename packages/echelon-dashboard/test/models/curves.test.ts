import assert from 'node:assert/strict';
import { test } from 'node:test';
import { chooseMetrics, curvesOf, reductionOf } from '../../src/models/curves.ts';

const point = (attempt: number, from: number, mean: number, to = from, count = 1) => ({
  attempt,
  from,
  to,
  count,
  mean,
  min: mean - 1,
  max: mean + 1,
});

test('series share their steps, and a repeated step has the value of the later attempt', () => {
  const data = curvesOf([
    { name: 'a', points: [point(1, 1, 10), point(1, 2, 20), point(2, 2, 21)] },
    { name: 'b', points: [point(1, 3, 30)] },
  ]);
  assert.deepEqual(data.columns[0], [1, 2, 3]);
  assert.deepEqual(data.columns[1], [10, 21, null]);
  assert.deepEqual(data.columns[4], [null, null, 30]);
});

test('a chart that shows fewer points than were recorded says so', () => {
  assert.equal(reductionOf(curvesOf([{ name: 'a', points: [point(1, 1, 1)] }])), undefined);
  const reduced = curvesOf([{ name: 'a', points: [point(1, 1, 1, 100, 100)] }]);
  assert.match(reductionOf(reduced)!, /^1 of 100 points/);
});

test('metrics of success and reward are shown first', () => {
  const names = ['actor/grad_norm', 'zzz', 'episode/reward/mean', 'episode/success_rate'];
  assert.deepEqual(chooseMetrics(names, 3), [
    'episode/success_rate',
    'episode/reward/mean',
    'actor/grad_norm',
  ]);
});
