import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { bandOf } from '../../../../../src/http/resources/sweeps/series.ts';
import type { SeriesPoint } from '../../../../../src/store/metrics/series-items.ts';
import { appFor } from '../../../../support/http-app.ts';
import { claimed, storeFor } from '../../../../support/store.ts';
import { expandAll, sweepInput } from '../../../../support/sweep.ts';

const { store } = await storeFor({ after });
const { call } = await appFor({ after }, { store });

const point = (from: number, to: number, mean: number | null, count = 1, nan = 0): SeriesPoint => ({
  attempt: 1,
  from,
  to,
  count,
  first: 0,
  last: 0,
  min: mean,
  max: mean,
  mean,
  nan,
  infinite: 0,
  at: null,
});

test('a band has the mean over the curves, each of which counts once per bin', () => {
  const curves = [
    [point(1, 1, 0), point(2, 2, 1), point(3, 3, 1)],
    [point(1, 1, 4), point(2, 3, 5, 2)],
  ];
  const fine = bandOf(curves, { resolution: 10, isRate: false });
  assert.deepEqual(
    fine.map(({ from, to, mean, n }) => [from, to, mean, n]),
    [
      [1, 1, 2, 2],
      [2, 2, 3, 2],
      [3, 3, 1, 1],
    ],
  );
  const coarse = bandOf(curves, { resolution: 2, isRate: false });
  assert.deepEqual(
    coarse.map(({ from, to, mean, n, std }) => [from, to, mean, n, std]),
    [
      [0, 1, 2, 2, Math.sqrt(8)],
      [2, 3, 3, 2, Math.sqrt(8)],
    ],
  );
});

test('a bin in which no curve has a finite value has no point', () => {
  const points = bandOf([[point(1, 1, null, 1, 1), point(3, 3, 2, 3, 2)]], { resolution: 10, isRate: false });
  assert.deepEqual(
    points.map(({ from, mean, n }) => [from, mean, n]),
    [[3, 2, 1]],
  );
  assert.deepEqual(bandOf([], { resolution: 10, isRate: false }), []);
});

test('GET /v1/sweeps/:id/series has a band for each combination and pages them', async () => {
  const request = {
    name: 'seeds',
    method: 'grid' as const,
    spec: { engine: 'replay', project: 'swept' },
    axes: { '/replay/batches': [1, 2], '/replay/seed': [1, 2] },
  };
  const { id } = await store.sweeps.create(sweepInput(request));
  const children = await expandAll(store, id);
  assert.equal(children.length, 4);
  for (const [at, child] of children.entries()) {
    const lease = await claimed(store, child);
    await store.attempts.confirm(lease);
    const entries = [1, 2].map((step) => ({
      sequence: step,
      at: step,
      event: { type: 'metrics' as const, step, values: { 'val/success_rate': step === 1 ? 0.5 : at / 4 } },
    }));
    await store.events.append(lease, entries);
  }
  const url = `/v1/sweeps/${id}/series?metric=val/success_rate`;
  const { items, over, next } = (await call('GET', url)).json();
  assert.deepEqual([over, next, items.length], [['/replay/seed'], null, 2]);
  assert.deepEqual([items[0].values, items[0].children, items[0].curves], [{ '/replay/batches': 1 }, 2, 2]);
  assert.deepEqual(
    items.map(({ points }: { points: { from: number; mean: number; n: number }[] }) =>
      points.map(({ from, mean, n }) => [from, mean, n]),
    ),
    [
      [
        [1, 0.5, 2],
        [2, 0.125, 2],
      ],
      [
        [1, 0.5, 2],
        [2, 0.625, 2],
      ],
    ],
  );
  const first = (await call('GET', `${url}&limit=1`)).json();
  const rest = (await call('GET', `${url}&limit=1&cursor=${first.next}`)).json();
  assert.deepEqual([...first.items, ...rest.items], items);
  const unknown = (await call('GET', `/v1/sweeps/${id}/series?metric=unknown`)).json();
  assert.deepEqual([unknown.items[0].curves, unknown.items[0].points], [0, []]);
  assert.equal((await call('GET', `${url}&over=/nothing`)).json().problems[0].field, 'over');
  assert.equal((await call('GET', `/v1/sweeps/${id}/series`)).json().metric, 'val/success_rate');
});
