import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  bandsOf,
  chooseMetrics,
  csvOf,
  curvesOf,
  grouped,
  namesLike,
  reductionOf,
  smoothed,
} from '../../src/models/curves.ts';

const point = (attempt: number, from: number, mean: number, to = from, count = 1) => ({
  attempt,
  from,
  to,
  count,
  mean,
  min: mean - 1,
  max: mean + 1,
  at: attempt * 3_600_000 + to * 60_000,
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

test('over hours each series starts at its own first point, over time a CSV has the recorded times', () => {
  const series = [1, 2].map((run) => ({
    name: `run ${run}`,
    points: [point(run, 0, run), point(run, 30, run)],
  }));
  assert.deepEqual(curvesOf(series, 'hours').columns[0], [0, 0.5]);
  const [, line] = csvOf(curvesOf(series, 'time')).split('\n');
  assert.equal(line, '1970-01-01T01:00:00.000Z,1,2,0,,,');
  const untimed = curvesOf([{ name: 'a', points: [{ ...point(1, 1, 1), at: null }] }], 'time');
  assert.deepEqual(untimed.columns[0], []);
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

test('bands lie on common steps; a step without a value is a gap, a mean without an interval is a line', () => {
  const counts = { children: 3, curves: 2 };
  const point = (from: number, to: number, mean: number, interval: { low: number; high: number } | null) => ({
    from,
    to,
    mean,
    interval,
    n: 2,
  });
  const { columns, series } = bandsOf(
    [
      { values: { '/a': 1 }, ...counts, points: [point(0, 1, 5, { low: 4, high: 7 })] },
      { values: { '/a': 2 }, ...counts, points: [point(0, 1, 2, null), point(2, 3, 3, null)] },
    ],
    (values) => `a=${values['/a']}`,
  );
  assert.deepEqual(columns, [
    [0.5, 2.5],
    [5, null],
    [7, null],
    [4, null],
    [2, 3],
    [2, 3],
    [2, 3],
  ]);
  assert.deepEqual(
    series.map(({ name }) => name),
    ['a=1 · 2 of 3 children', 'a=2 · 2 of 3 children'],
  );
});

test('smoothing keeps a constant and gaps, and a table for export holds every value', () => {
  const data = {
    axis: 'step' as const,
    series: [{ name: 'a "b"', values: 3 }],
    columns: [
      [1, 2, 3],
      [4, null, 4],
      [5, null, 5],
      [3, null, 3],
    ],
  };
  const [, means] = smoothed(data, 0.9).columns;
  assert.deepEqual(
    means!.map((x) => x && Number(x.toPrecision(9))),
    [4, null, 4],
  );
  assert.equal(csvOf(data), 'step,"a ""b""","a ""b"" max","a ""b"" min"\n1,4,5,3\n2,,,\n3,4,5,3\n');
});

test('metrics are found by a regular expression, and by a part if the text is none', () => {
  const names = ['actor/kl', 'critic/kl', 'actor/(x'];
  assert.deepEqual(namesLike(names, '^actor/k|CRITIC'), ['actor/kl', 'critic/kl']);
  assert.deepEqual(namesLike(names, '(x'), ['actor/(x']);
});

test('metrics of the nodes are a group of their own, and are shown after all others', () => {
  const names = ['system/cpu_percent', 'loss', 'val/success_rate'];
  assert.deepEqual(
    grouped(names).map(({ value, group }) => [value, group]),
    [
      ['loss', undefined],
      ['val/success_rate', undefined],
      ['system/cpu_percent', 'Nodes of the training'],
    ],
  );
  assert.deepEqual(chooseMetrics(names, 2), ['val/success_rate', 'loss']);
});
