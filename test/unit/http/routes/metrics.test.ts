import assert from 'node:assert/strict';
import { after, describe, test } from 'node:test';
import { seriesOf } from '../../../../src/http/routes/metrics.ts';
import { appFor } from '../../../support/http-app.ts';
import { running, storeFor } from '../../../support/store.ts';

const scope = { after };
const { store } = await storeFor(scope);
const { call } = await appFor(scope, { store });

describe('GET /v1/experiments/:id/metrics', () => {
  test('gives series by name, at full precision, page by page', async () => {
    const lease = await running(store);
    const url = `/v1/experiments/${lease.experiment}/metrics`;
    const events = Array.from({ length: 2500 }, (_, index) => ({
      sequence: index + 1,
      at: index,
      event: {
        type: 'metrics',
        step: index,
        values: { 'a/b': index / 3, c: index === 7 ? 'NaN' : 1 },
      } as const,
    }));
    await store.append(lease, events);
    const first = (await call('GET', url)).json();
    assert.deepEqual(
      first.series.map(({ name }: { name: string }) => name),
      ['a/b', 'c'],
    );
    assert.equal(first.more, true);
    assert.deepEqual(first.series[0].points[2], { attempt: 1, step: 2, value: 2 / 3 });
    assert.equal(first.series[1].points[7].value, 'NaN');
    const second = (await call('GET', `${url}?after=${first.after}&names=a/b,d`)).json();
    assert.equal(second.more, false);
    assert.deepEqual(
      second.series.map(({ name }: { name: string }) => name),
      ['a/b'],
    );
    assert.equal(first.series[0].points.length + second.series[0].points.length, 2500);
    const repeated = (await call('GET', `${url}?names=c&names=a%2Fb`)).json();
    assert.equal(repeated.series.length, 2);
  });

  test('refuses names that are too many or empty', async () => {
    const { experiment } = await running(store);
    for (const query of ['names=', `names=${'a,'.repeat(100)}a`, 'name=a']) {
      const response = await call('GET', `/v1/experiments/${experiment}/metrics?${query}`);
      assert.equal(response.statusCode, 400, query);
    }
  });
});

test('seriesOf keeps attempts apart', () => {
  const at = (id: string, step: number) =>
    ({ id, at: 0, event: { type: 'metrics', step, values: { x: step } } }) as const;
  assert.deepEqual(seriesOf([at('1-1048576', 3), at('2-1048576', 1)], undefined), [
    {
      name: 'x',
      points: [
        { attempt: 1, step: 3, value: 3 },
        { attempt: 2, step: 1, value: 1 },
      ],
    },
  ]);
});
