import assert from 'node:assert/strict';
import { after, describe, test } from 'node:test';
import type { MetricValue, NumberedEvent } from '../../../../src/core/events.ts';
import type { Lease } from '../../../../src/store/attempts/types.ts';
import { stretchesOf } from '../../../../src/store/metrics/metric-series.ts';
import type { SeriesPoint } from '../../../../src/store/metrics/series-items.ts';
import { claimed, running, storeFor } from '../../../support/store.ts';

const { store, redis } = await storeFor({ after });

interface Point {
  attempt: number;
  step: number;
  value: number;
}

/** Appends one metrics event for each step, and compacts as a dispatcher does. */
async function record(
  lease: Lease,
  options: { first: number; steps: number[]; values: (step: number) => Record<string, MetricValue> },
): Promise<void> {
  const events = options.steps.map((step, index): NumberedEvent => {
    const event = { type: 'metrics', step, values: options.values(step) } as const;
    return { sequence: options.first + index, at: index, event };
  });
  await store.events.append(lease, events);
  for (const id of await store.metrics.takeDue(10)) await store.metrics.compact(id);
}

const range = (from: number, to: number) => Array.from({ length: to - from }, (_, index) => from + index);
const wave = (step: number) => Math.sin(step / 7) * step + step / 3;

/** Every point of the answer says of the points that it stands for what is true of them, and leaves none out. */
function assertTrue(answer: readonly SeriesPoint[], points: readonly Point[], resolution: number): void {
  assert.ok(answer.length <= resolution, `${answer.length} points`);
  assert.equal(
    answer.reduce((sum, { count }) => sum + count, 0),
    points.length,
  );
  let at = 0;
  for (const point of answer) {
    const of = points.slice(at, at + point.count);
    at += point.count;
    const finite = of.map(({ value }) => value).filter(Number.isFinite);
    assert.equal(point.from, of[0]!.step);
    assert.equal(point.to, of.at(-1)!.step);
    // `record` numbers the events of a call from 0: the time of a step stays below the number of its points.
    assert.ok(point.at !== null && point.at >= 0 && point.at <= point.to);
    assert.equal(Number(point.first), of[0]!.value);
    assert.equal(Number(point.last), of.at(-1)!.value);
    assert.equal(point.attempt, of.at(-1)!.attempt);
    assert.equal(point.nan, of.filter(({ value }) => Number.isNaN(value)).length);
    assert.equal(point.infinite, of.length - finite.length - point.nan);
    if (finite.length === 0) {
      assert.deepEqual([point.min, point.max, point.mean], [null, null, null]);
      continue;
    }
    assert.equal(point.min, Math.min(...finite));
    assert.equal(point.max, Math.max(...finite));
    const mean = finite.reduce((sum, value) => sum + value, 0) / finite.length;
    assert.ok(Math.abs(point.mean! - mean) <= 1e-9 * Math.max(1, Math.abs(point.max! - point.min!)));
  }
}

describe('metricSeries', () => {
  test('metricSeries keeps every point as it was while there are few, values that are no numbers too', async () => {
    const lease = await running(store);
    const odd: Record<number, MetricValue> = { 2: 'NaN', 3: 'Infinity', 4: '-Infinity', 5: 0.1 + 0.2 };
    await record(lease, { first: 1, steps: range(0, 9), values: (step) => ({ 'a b/c': odd[step] ?? step }) });
    const [points] = await store.metrics.series(lease.experiment, { names: ['a b/c'], resolution: 500 });
    assert.deepEqual(
      points?.map(({ from, first }) => [from, first]),
      range(0, 9).map((step) => [step, odd[step] ?? step]),
    );
    assert.deepEqual(points?.[2], {
      attempt: 1,
      from: 2,
      to: 2,
      count: 1,
      first: 'NaN',
      last: 'NaN',
      min: null,
      max: null,
      mean: null,
      nan: 1,
      infinite: 0,
      at: 2,
    });
  });

  test('metricSeries says the truth at every length and resolution', async () => {
    const lease = await running(store);
    const value = (step: number) => (step % 97 === 0 ? Number.NaN : step % 89 === 0 ? -Infinity : wave(step));
    const points: Point[] = [];
    let sequence = 1;
    for (const length of [1, 15, 1, 60, 300, 777, 5000]) {
      const steps = range(points.length, points.length + length);
      await record(lease, {
        first: sequence,
        steps,
        values: (step) => ({
          x: (Number.isFinite(value(step)) ? value(step) : String(value(step))) as MetricValue,
          ...(step % 10 === 0 && { sparse: step }),
        }),
      });
      sequence += length;
      // Some values are then in rows, others in blocks.
      if (length % 2 === 0) await store.metrics.compact(lease.experiment);
      points.push(...steps.map((step) => ({ attempt: 1, step, value: value(step) })));
      for (const resolution of [1, 7, 50, 500, 2000]) {
        const [x, sparse] = await store.metrics.series(lease.experiment, {
          names: ['x', 'sparse'],
          resolution,
        });
        assertTrue(x!, points, resolution);
        const tenth = points.filter(({ step }) => step % 10 === 0);
        assertTrue(
          sparse!,
          tenth.map((point) => ({ ...point, value: point.step })),
          resolution,
        );
      }
    }
  });

  test('a part of the steps is as fine as there is room for', async () => {
    const lease = await running(store);
    await record(lease, { first: 1, steps: range(0, 9000), values: (step) => ({ x: step }) });
    await store.metrics.compact(lease.experiment);
    for (const [from, to] of [
      [0, 99],
      [4000, 4099],
      [8950, 8999],
      [63, 64],
    ] as const) {
      const query = { names: ['x'], from, to, resolution: 500 };
      const [points] = await store.metrics.series(lease.experiment, query);
      assert.deepEqual(
        points?.map(({ first }) => first),
        range(from, to + 1),
      );
    }
    const wide = { names: ['x'], from: 1000, to: 7999, resolution: 100 };
    const [coarse] = await store.metrics.series(lease.experiment, wide);
    const counted = coarse!.reduce((sum, { count }) => sum + count, 0);
    // What it begins and ends with may reach over the edge, and says so.
    assert.ok(counted >= 7000 && counted < 7000 + 2 * 256, `${counted}`);
    const nothing = { names: ['x'], from: 9000, to: 20_000, resolution: 100 };
    assert.deepEqual(await store.metrics.series(lease.experiment, nothing), [[]]);
  });

  test('from the step where a later attempt begins only its values stand', async () => {
    let lease = await running(store);
    const points: Point[] = [];
    for (const [attempt, first, end] of [
      [1, 0, 3000],
      [2, 1234, 2900],
      [3, 2000, 2500],
    ] as const) {
      if (attempt > 1) {
        await store.attempts.end(lease, { to: 'queued', reason: 'node lost' });
        lease = await claimed(store, lease.experiment);
        await store.attempts.confirm(lease);
      }
      const value = (step: number) => step + attempt / 10;
      await record(lease, { first: 1, steps: range(first, end), values: (step) => ({ x: value(step) }) });
      await store.metrics.compact(lease.experiment);
      while (points.length > 0 && points.at(-1)!.step >= first) points.pop();
      points.push(...range(first, end).map((step) => ({ attempt, step, value: value(step) })));
      for (const resolution of [1, 20, 500, 2000]) {
        const [x] = await store.metrics.series(lease.experiment, { names: ['x'], resolution });
        // Fails where aggregates that reach into a later attempt's steps are not taken apart.
        assertTrue(x!, points, resolution);
      }
    }
  });

  test('an event that comes again adds nothing', async () => {
    const lease = await running(store);
    const values = (step: number) => ({ x: step });
    await record(lease, { first: 1, steps: range(0, 100), values });
    await record(lease, { first: 1, steps: range(0, 100), values });
    await record(lease, { first: 41, steps: range(40, 130), values });
    const [x] = await store.metrics.series(lease.experiment, { names: ['x'], resolution: 500 });
    // Fails where recordValues is called for events that are recorded already.
    assert.deepEqual(
      x?.map(({ first }) => first),
      range(0, 130),
    );
  });

  test('names: all with their last values, and only so many have a series', async (t) => {
    const { store: small } = await storeFor(t, { limits: { metricNames: 3 } });
    const lease = await running(small);
    const events = ['b', 'a c', 'd/e', 'f'].map((name, index): NumberedEvent => {
      const event = { type: 'metrics', step: 1, values: { [name]: index } } as const;
      return { sequence: index + 1, at: 0, event };
    });
    for (const event of events) await small.events.append(lease, [event]);
    assert.deepEqual(await small.metrics.names(lease.experiment), [
      { name: 'a c', last: 1 },
      { name: 'b', last: 0 },
      { name: 'd/e', last: 2 },
    ]);
    const query = { names: ['b', 'f', 'none'], resolution: 10 };
    const series = await small.metrics.series(lease.experiment, query);
    assert.deepEqual(
      series.map((points) => points.length),
      [1, 0, 0],
    );
    assert.deepEqual(await small.metrics.names('exp-00000000000000000000'), []);
  });

  test('a chart costs the same however long the run is', async () => {
    const lease = await running(store);
    const read: number[] = [];
    let recorded = 0;
    for (const length of [20_000, 80_000]) {
      await record(lease, {
        first: recorded + 1,
        steps: range(recorded, length),
        values: (step) => ({ x: wave(step) }),
      });
      recorded = length;
      const before = await outputBytes();
      const [x] = await store.metrics.series(lease.experiment, { names: ['x'], resolution: 500 });
      assert.equal(
        x!.reduce((sum, { count }) => sum + count, 0),
        length,
      );
      read.push((await outputBytes()) - before);
    }
    // Fails where the level is not chosen by the resolution.
    assert.ok(Math.max(...read) < 4.5 * Math.min(...read) && Math.max(...read) < 300_000, read.join(' and '));
  });
});

/** Bytes that the server has sent so far. */
async function outputBytes(): Promise<number> {
  return Number(/total_net_output_bytes:(\d+)/.exec(await redis.info('stats'))![1]);
}

test('stretchesOf cuts earlier attempts where later ones begin', () => {
  assert.deepEqual(stretchesOf(''), []);
  const last = 2 ** 32 - 1;
  assert.deepEqual(stretchesOf('1:0 2:500 4:300'), [
    { attempt: 1, from: 0, to: 299 },
    { attempt: 2, from: 500, to: 299 },
    { attempt: 4, from: 300, to: last },
  ]);
  assert.deepEqual(stretchesOf('1:7 2:0'), [{ attempt: 2, from: 0, to: last }]);
});
