import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { MetricValue, NumberedEvent } from '../../../../src/core/events.ts';
import { metricNamesOf, packValues } from '../../../../src/store/metrics/metric-entries.ts';

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
