import assert from 'node:assert/strict';
import { after, describe, test } from 'node:test';
import type { AttemptEvent, MetricValue } from '../../../../src/core/events.ts';
import { toMetricNumbers, toStreamEntry, toValue } from '../../../../src/store/metrics/metric-entries.ts';
import { running, storeFor } from '../../../support/store.ts';

const { store, redis } = await storeFor({ after }, { limits: { metricNames: 50 } });

describe('metrics in the stream', () => {
  const cases: Record<string, AttemptEvent> = {
    'of every kind of value': metrics({ a: 0.1 + 0.2, b: 'NaN', c: 'Infinity', d: '-Infinity', e: -1e-320 }),
    'with names that JavaScript gives a meaning to': JSON.parse(
      '{"type":"metrics","step":3,"values":{"__proto__":1,"constructor":2,"1":3,"a b/ü😀":4}}',
    ) as AttemptEvent,
    'with more names than have numbers': metrics(
      Object.fromEntries(Array.from({ length: 60 }, (_, index) => [`many ${index}`, index])),
    ),
    'without values': metrics({}),
    'of an impossible step': metrics({ a: 1 }, -7),
    'of half a step': metrics({ a: 1 }, 2.5),
  };
  for (const [what, event] of Object.entries(cases)) {
    test(`${what} come out as they went in`, async () => {
      const lease = await running(store);
      await store.events.append(lease, [
        { sequence: 1, at: 7, event },
        { sequence: 2, at: 8, event: metrics({ a: 5 }) },
      ]);
      const entries = await store.events.read(lease.experiment, '1-0', 10);
      assert.deepEqual(
        entries.filter((entry) => entry.event.type === 'metrics').map((entry) => entry.event),
        [event, metrics({ a: 5 })],
      );
      assert.deepEqual((await store.events.tail(lease.experiment, 2))[0]?.event, event);
      const signals = await store.rules.readSignals(lease.experiment, 10);
      assert.deepEqual(signals.entries.at(-2)?.event, event);
    });
  }

  test('take a fraction of their JSON', async () => {
    const lease = await running(store);
    const values = Object.fromEntries(
      Array.from({ length: 40 }, (_, index) => [`actor/metric_${index}`, 1 / 3]),
    );
    const events = Array.from({ length: 500 }, (_, index) => ({
      sequence: index + 1,
      at: 0,
      event: metrics(values, index),
    }));
    await store.events.append(lease, events);
    const bytes = Number(
      await redis.call('MEMORY', 'USAGE', `{echelon}:x:${lease.experiment}:events`, 'SAMPLES', '0'),
    );
    // Fails where the values stand in the event itself: that is 45 bytes for each.
    assert.ok(bytes / (500 * 40) < 20, `${bytes / (500 * 40)}`);
  });
});

function metrics(values: Record<string, MetricValue>, step = 1): AttemptEvent {
  return { type: 'metrics', step, values };
}

test('an entry without values beside it is its event', () => {
  const event = '{"type":"stage","name":"x","step":1,"steps":2}';
  const entry = toStreamEntry({ id: '1-1', at: '5', event, values: undefined }, new Map());
  assert.deepEqual(entry, { id: '1-1', at: 5, event: JSON.parse(event) });
  assert.deepEqual(
    [...toMetricNumbers(['a', '0', Buffer.from('b'), Buffer.from('7')])],
    [
      [0, 'a'],
      [7, 'b'],
    ],
  );
  assert.deepEqual([Number.NaN, -Infinity, 2].map(toValue), ['NaN', '-Infinity', 2]);
});
