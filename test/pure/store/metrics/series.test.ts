import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { MetricValue, NumberedEvent } from '../../../../src/core/events.ts';
import type { StoreContext } from '../../../../src/store/context.ts';
import { metricNamesOf, packValues } from '../../../../src/store/metrics/metric-entries.ts';
import { createMetricSeries } from '../../../../src/store/metrics/metric-series.ts';
import { condense, pointOf } from '../../../../src/store/metrics/series-items.ts';

const metrics = (values: Record<string, MetricValue>): NumberedEvent => ({
  sequence: 1,
  at: 0,
  event: { type: 'metrics', step: 1, values },
});

test('names have places in the order in which they come; very long ones have none', () => {
  const names = metricNamesOf([metrics({ b: 1, ['x'.repeat(201)]: 2 }), metrics({ a: 1, b: 2 })]);
  assert.deepEqual([...names], Object.entries({ b: 0, a: 1 }));
  const many = Object.fromEntries(Array.from({ length: 5000 }, (_, index) => [`m${index}`, 0]));
  assert.equal(metricNamesOf([metrics(many)]).size, 4000);
});

test('values are packed at full precision, with the places of their names', () => {
  const values = { a: 0.1 + 0.2, b: 'NaN', c: '-Infinity', d: 4 } as const;
  const bytes = Buffer.from(packValues(values, new Map(Object.entries({ c: 0, a: 1, b: 700 }))));
  const unpacked = [0, 10, 20].map((at) => [bytes.readUInt16LE(at), bytes.readDoubleLE(at + 2)]);
  assert.deepEqual(unpacked, [
    [1, 0.1 + 0.2],
    [700, Number.NaN],
    [0, -Infinity],
  ]);
  assert.equal(bytes.length, 30);
});

test('a read without names sends no command', async () => {
  const reader = createMetricSeries({} as StoreContext);
  assert.deepEqual(await reader.series('exp-00000000000000000000', { names: [], resolution: 5 }), []);
});

test('condense merges the points of one range of steps, and none if there is room', () => {
  const items = (
    [
      [0, 1],
      [1, Number.NaN],
      [2, Infinity],
      [9, -3],
    ] as const
  ).map(([step, value]) => ({ attempt: 1, item: pointOf(step, value) }));
  assert.equal(condense(items, 4).length, 4);
  assert.deepEqual(condense(items, 2), [
    {
      attempt: 1,
      from: 0,
      to: 2,
      count: 3,
      first: 1,
      last: 'Infinity',
      min: 1,
      max: 1,
      mean: 1,
      nan: 1,
      infinite: 1,
    },
    {
      attempt: 1,
      from: 9,
      to: 9,
      count: 1,
      first: -3,
      last: -3,
      min: -3,
      max: -3,
      mean: -3,
      nan: 0,
      infinite: 0,
    },
  ]);
  const same = items.map(({ attempt, item }) => ({ attempt, item: { ...item, from: 5, to: 5 } }));
  assert.equal(condense(same, 3).length, 1);
  assert.deepEqual(condense([], 3), []);
});
