import assert from 'node:assert/strict';
import { after, describe, test } from 'node:test';
import { createClient } from '../../../../../src/cli/client.ts';
import { boundEvent } from '../../../../../src/core/event-bounds.ts';
import { isMetricName } from '../../../../../src/core/metric-name.ts';
import { seriesOf } from '../../../../../src/http/resources/experiments/metrics.ts';
import { createCheck } from '../../../../../src/schemas/check.ts';
import { RuleCondition } from '../../../../../src/schemas/rules.ts';
import { appFor, TOKEN } from '../../../../support/http-app.ts';
import { running, storeFor } from '../../../../support/store.ts';

const scope = { after };
const { store } = await storeFor(scope);
const { call, app } = await appFor(scope, { store });
const listening = () => app.listen({ host: '127.0.0.1', port: 0 });

/** 2500 steps of two metrics, one of which is NaN at step 7. */
async function recorded(): Promise<string> {
  const lease = await running(store);
  const events = Array.from({ length: 2500 }, (_, index) => ({
    sequence: index + 1,
    at: index,
    event: {
      type: 'metrics',
      step: index,
      values: { 'a/b': index / 3, c: index === 7 ? 'NaN' : 1, 'a x': 0.1 },
    } as const,
  }));
  await store.events.append(lease, events);
  return lease.experiment;
}
const id = await recorded();
const url = `/v1/experiments/${id}/metrics`;
const names = (body: { series: { name: string }[] }) => body.series.map(({ name }) => name);

test('every metric that is recorded can be asked for by its name, sorted by and named in a rule', async () => {
  const values = { 'top1, top5': 1, 'f1*': 1, 'Ü/😀': 1, ['😀'.repeat(200)]: 1, '': 1, 'a\nb': 1 };
  const lease = await running(store);
  const event = boundEvent({ type: 'metrics', step: 1, values });
  await store.events.append(lease, [{ sequence: 1, at: 1, event }]);
  const of = `/v1/experiments/${lease.experiment}/metrics`;
  const known = (await call('GET', `${of}/names`)).json<{ items: { name: string }[] }>().items;
  assert.deepEqual(known.map(({ name }) => name).sort(), Object.keys(values).filter(isMetricName).sort());
  const url = await listening();
  const client = createClient({ url, token: TOKEN });
  for (const { name } of known) {
    const query = { experiments: [lease.experiment], names: [name] };
    const { items } = await client.get('/v1/metrics', { query });
    assert.ok(
      items[0]!.series.some((one) => one.name === name),
      name.slice(0, 20),
    );
    const sorted = await call('GET', `/v1/experiments?sort=${encodeURIComponent(`-metric:${name}`)}`);
    assert.equal(sorted.statusCode, 200);
    assert.deepEqual(createCheck(RuleCondition)({ metric: [name], above: 1 }), []);
  }
});

describe('GET /v1/experiments/:id/metrics', () => {
  test('GET metrics returns a chart of every metric with a bounded number of points', async () => {
    const chart = (await call('GET', url)).json();
    assert.deepEqual(names(chart), ['a x', 'a/b', 'c']);
    assert.equal(chart.resolution, 500);
    for (const { points } of chart.series) {
      assert.ok(points.length <= 500 && points.length > 100, `${points.length}`);
      assert.equal(
        points.reduce((sum: number, { count }: { count: number }) => sum + count, 0),
        2500,
      );
    }
    const [, second] = chart.series[2].points;
    assert.deepEqual([second.from, second.nan, second.min, second.mean, second.max], [5, 1, 1, 1, 1]);
  });

  test('GET metrics of a short range of steps returns the recorded values', async () => {
    const part = (await call('GET', `${url}?names=a/b&from=100&to=104&resolution=10`)).json();
    assert.deepEqual(
      part.series[0].points.map(({ first }: { first: number }) => first),
      [100, 101, 102, 103, 104].map((step) => step / 3),
    );
  });

  test('GET metrics selects metrics by name and by prefix', async () => {
    for (const [query, expected] of [
      ['names=a/*', ['a/b']],
      ['names=a*', ['a x', 'a/b']],
      ['names=a%20x,c,none', ['a x', 'c']],
      ['names=c&names=a%2Fb', ['a/b', 'c']],
      ['names=*', ['a x', 'a/b', 'c']],
      ['names=none', []],
    ] as const) {
      assert.deepEqual(names((await call('GET', `${url}?${query}`)).json()), expected, query);
    }
  });

  test('GET metrics lowers the resolution for many metrics, so that an answer stays bounded', async () => {
    const lease = await running(store);
    const values = Object.fromEntries(Array.from({ length: 400 }, (_, index) => [`m ${index}`, index]));
    const events = Array.from({ length: 120 }, (_, index) => ({
      sequence: index + 1,
      at: index,
      event: { type: 'metrics', step: index, values } as const,
    }));
    await store.events.append(lease, events);
    const chart = (await call('GET', `/v1/experiments/${lease.experiment}/metrics`)).json();
    assert.equal(chart.resolution, 50);
    assert.equal(chart.series.length, 400);
    assert.ok(chart.series.every(({ points }: { points: unknown[] }) => points.length <= 50));
  });

  test('GET metrics refuses empty or too many names, and a bad resolution or range', async () => {
    for (const query of [
      'names=',
      `names=${'a,'.repeat(100)}a`,
      'name=a',
      'resolution=0',
      'resolution=2001',
      'resolution=x',
      'from=-1',
      'to=1e3',
    ]) {
      const response = await call('GET', `${url}?${query}`);
      assert.equal(response.statusCode, 400, query);
    }
  });
});

test('GET metrics/names returns every metric with its last value', async () => {
  assert.deepEqual((await call('GET', `${url}/names`)).json(), {
    items: [
      { name: 'a x', last: 0.1 },
      { name: 'a/b', last: 2499 / 3 },
      { name: 'c', last: 1 },
    ],
  });
});

test('GET /v1/metrics returns several experiments with one resolution', async () => {
  const { experiment } = await running(store);
  const compared = (await call('GET', `/v1/metrics?experiments=${id},${experiment}&names=c`)).json();
  assert.deepEqual(
    compared.items.map((item: { experiment: string; series: unknown[] }) => [
      item.experiment,
      item.series.length,
    ]),
    [
      [id, 1],
      [experiment, 0],
    ],
  );
  const unknown = `/v1/metrics?experiments=${id},exp-00000000000000000000&names=c`;
  assert.equal((await call('GET', unknown)).statusCode, 404);
  assert.equal((await call('GET', `/v1/metrics?experiments=${id}`)).statusCode, 400);
});

test('GET metrics/points returns every value at full precision, in pages', async () => {
  const first = (await call('GET', `${url}/points`)).json();
  assert.deepEqual(names(first), ['a/b', 'c', 'a x']);
  assert.equal(first.more, true);
  assert.deepEqual(first.series[0].points[2], { attempt: 1, step: 2, value: 2 / 3, at: 2 });
  assert.equal(first.series[1].points[7].value, 'NaN');
  const second = (await call('GET', `${url}/points?after=${first.after}&names=a/b,d`)).json();
  assert.equal(second.more, false);
  assert.deepEqual(names(second), ['a/b']);
  assert.equal(first.series[0].points.length + second.series[0].points.length, 2500);
});

test('a page of metric points has a limit on its values, and the pages together hold every value', async () => {
  const lease = await running(store);
  const values = Object.fromEntries(Array.from({ length: 1000 }, (_, index) => [`m ${index}`, index]));
  for (let step = 0; step < 70; step += 10) {
    const events = Array.from({ length: 10 }, (_, index) => ({
      sequence: step + index + 1,
      at: step,
      event: { type: 'metrics', step: step + index, values } as const,
    }));
    await store.events.append(lease, events);
  }
  const points = `/v1/experiments/${lease.experiment}/metrics/points`;
  const first = (await call('GET', points)).json();
  assert.deepEqual([first.series.length, first.series[0].points.length, first.more], [1000, 50, true]);
  const second = (await call('GET', `${points}?after=${first.after}`)).json();
  assert.deepEqual([second.series[0].points.length, second.series[0].points[0].step], [20, 50]);
});

test('seriesOf keeps the points of each attempt in order, even if a later attempt repeats steps', () => {
  const at = (id: string, step: number) =>
    ({ id, at: 0, event: { type: 'metrics', step, values: { x: step } } }) as const;
  assert.deepEqual(seriesOf([at('1-1048576', 3), at('2-1048576', 1)], undefined), [
    {
      name: 'x',
      points: [
        { attempt: 1, step: 3, value: 3, at: 0 },
        { attempt: 2, step: 1, value: 1, at: 0 },
      ],
    },
  ]);
});
