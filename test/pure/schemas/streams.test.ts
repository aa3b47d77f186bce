import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Value } from 'typebox/value';
import { FeedMessage, MetricPoints } from '../../../src/schemas/streams.ts';

test('a metric value is a number, or a word if it is not finite', () => {
  const of = (value: unknown) => ({
    series: [{ name: 'x', points: [{ attempt: 1, step: 0, value }] }],
    after: null,
    more: false,
  });
  for (const value of [0, -1.5, 'NaN', 'Infinity', '-Infinity'])
    assert.ok(Value.Check(MetricPoints, of(value)));
  for (const value of ['1', null, 'nan']) assert.ok(!Value.Check(MetricPoints, of(value)));
});

test('a feed message belongs to an experiment or to a sweep', () => {
  const message = { id: '7', at: 1, project: 'p', name: 'n', sweep: 'swp-1' };
  const event = { type: 'sweep', state: 'running', counts: {} };
  assert.ok(Value.Check(FeedMessage, { ...message, experiment: null, event }));
  assert.ok(!Value.Check(FeedMessage, { ...message, experiment: null, event: { type: 'metrics' } }));
});
