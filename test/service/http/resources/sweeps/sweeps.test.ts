import assert from 'node:assert/strict';
import { after, describe, test } from 'node:test';
import { newSweepId } from '../../../../../src/core/ids.ts';
import type { Store } from '../../../../../src/store/store.ts';
import { appFor } from '../../../../support/http-app.ts';
import { claimed, storeFor } from '../../../../support/store.ts';
import { expandAll, expandedSweep, sweepInput, sweepRequest } from '../../../../support/sweep.ts';

const { store } = await storeFor({ after });
const enqueued: string[] = [];
const removed: string[] = [];
const { call } = await appFor(
  { after },
  {
    store,
    enqueue: async (ids) => void enqueued.push(...ids),
    removeJobs: async (ids) => void removed.push(...ids),
  },
);

async function end(to: 'succeeded' | 'failed', experiment: string, rate?: number): Promise<void> {
  const lease = await claimed(store as Store, experiment);
  await store.attempts.confirm(lease);
  const values = { 'val/success_rate': rate ?? 0 };
  await store.events.append(lease, [{ sequence: 1, at: 1, event: { type: 'metrics', step: 1, values } }]);
  await store.attempts.end(lease, { to, reason: 'a test' });
}

test('every route of an unknown sweep gets 404', async () => {
  for (const path of ['', '/comparison', '/series?metric=a'])
    for (const id of [newSweepId(), 'swp-x', 'exp-00000000000000000000'])
      assert.equal((await call('GET', `/v1/sweeps/${id}${path}`)).statusCode, 404);
  for (const path of ['cancel', 'rerun-failed'])
    assert.equal((await call('POST', `/v1/sweeps/${newSweepId()}/${path}`)).statusCode, 404);
});

test('GET /v1/sweeps is paged newest first, and refuses a cursor of another list', async () => {
  const ids: string[] = [];
  for (let at = 0; at < 3; at += 1) {
    ids.push((await store.sweeps.create(sweepInput(sweepRequest(1), { project: 'listed' }))).id);
  }
  const first = (await call('GET', '/v1/sweeps?project=listed&limit=2')).json();
  assert.deepEqual(
    first.items.map(({ id }: { id: string }) => id),
    [ids[2], ids[1]],
  );
  const rest = (await call('GET', `/v1/sweeps?project=listed&limit=2&cursor=${first.next}`)).json();
  assert.deepEqual([rest.items.length, rest.items[0].id, rest.next], [1, ids[0], null]);
  assert.equal((await call('GET', `/v1/sweeps?cursor=${first.next}`)).json().code, 'invalid-cursor');
});

test('GET of a sweep shows its children in pages, before and after they become experiments', async () => {
  const { id } = await store.sweeps.create(sweepInput(sweepRequest(7)));
  const before = (await call('GET', `/v1/sweeps/${id}?limit=3`)).json();
  assert.deepEqual([before.count, before.expanded, before.children[2].state], [7, 0, null]);
  const ids = await expandAll(store, id);
  let page = (await call('GET', `/v1/sweeps/${id}?limit=3`)).json();
  const seen = [...page.children];
  while (page.next !== null) {
    page = (await call('GET', `/v1/sweeps/${id}?limit=3&cursor=${page.next}`)).json();
    seen.push(...page.children);
  }
  const child = (await call('GET', `/v1/experiments/${ids[4]}`)).json();
  assert.deepEqual(
    seen,
    ids.map((experiment, index) => ({
      index,
      experiment,
      run: 0,
      state: 'queued',
      after: null,
      skipped: null,
      values: { '/replay/batches': index },
      verification: child.verification,
    })),
  );
  assert.deepEqual([child.verification.rowsSeen, child.verification.wrong], [0, 0]);
  assert.deepEqual([child.sweep, child.sweepIndex], [id, 4]);
});

describe('POST /v1/sweeps/:id/cancel', () => {
  test('a cancel of a sweep cancels all children, and its repetition gets the same answer', async () => {
    removed.length = 0;
    const { id } = await expandedSweep(store, 300);
    for (let time = 0; time < 2; time += 1) {
      const answer = await call('POST', `/v1/sweeps/${id}/cancel`);
      assert.deepEqual(
        [answer.statusCode, answer.json().state, answer.json().counts.cancelled],
        [202, 'cancelled', 300],
      );
    }
    assert.equal((await call('POST', `/v1/sweeps/${id}/rerun-failed`)).json().code, 'already-final');
  });

  test('a cancel of a sweep stores its reason', async () => {
    const { id } = await expandedSweep(store, 1);
    const answer = await call('POST', `/v1/sweeps/${id}/cancel`, { body: { reason: 'the wrong seed' } });
    assert.deepEqual(
      [answer.statusCode, answer.json().reason],
      [202, 'cancelled by request: the wrong seed'],
    );
  });

  test('a cancel of an ended sweep gets already-final, and with another body 400', async () => {
    const { id, children } = await expandedSweep(store, 1);
    for (const body of [{ why: 'x' }, { reason: 'x'.repeat(201) }, []])
      assert.equal((await call('POST', `/v1/sweeps/${id}/cancel`, { body })).statusCode, 400);
    await store.experiments.cancel(children[0]!, 'the only one');
    assert.equal((await call('POST', `/v1/sweeps/${id}/cancel`)).json().code, 'already-final');
  });
});

test('POST rerun-failed runs each failed child once again, with a job', async () => {
  const { id, children } = await expandedSweep(store, 3);
  await end('failed', children[0]!);
  await end('succeeded', children[1]!);
  await end('failed', children[2]!);
  const answer = await call('POST', `/v1/sweeps/${id}/rerun-failed`);
  assert.deepEqual([answer.statusCode, answer.json().rerun, answer.json().sweep.state], [202, 2, 'running']);
  const { children: now } = (await call('GET', `/v1/sweeps/${id}`)).json();
  assert.deepEqual(
    now.map(({ run }: { run: number }) => run),
    [1, 0, 1],
  );
  assert.deepEqual(enqueued.slice(-2), [now[0].experiment, now[2].experiment]);
  assert.equal((await call('POST', `/v1/sweeps/${id}/rerun-failed`)).json().rerun, 0);
});

describe('GET /v1/sweeps/:id/comparison', () => {
  test('the comparison of a sweep has a row for each combination, aggregated over its seeds', async () => {
    const request = {
      name: 'compared',
      method: 'grid' as const,
      spec: { engine: 'local' },
      axes: { estimator: [{ name: 'hgpo' }, { name: 'grpo' }], 'training.seed': [1, 2] },
    };
    const { id } = await store.sweeps.create(sweepInput(request));
    const children = await expandAll(store, id);
    await end('succeeded', children[0]!, 0.5);
    await end('succeeded', children[1]!, 0.7);
    await end('failed', children[2]!, 0.9);
    const { over, metrics, items, next } = (await call('GET', `/v1/sweeps/${id}/comparison`)).json();
    assert.deepEqual([over, metrics, next], [['/training/seed'], ['val/success_rate'], null]);
    assert.deepEqual(
      items.map(({ values }: { values: object }) => values),
      [{ '/estimator': { name: 'hgpo' } }, { '/estimator': { name: 'grpo' } }],
    );
    const [hgpo, grpo] = items;
    assert.deepEqual(
      [hgpo.children, hgpo.succeeded, hgpo.metrics['val/success_rate'].n, hgpo.reference],
      [2, 2, 2, null],
    );
    assert.ok(Math.abs(hgpo.metrics['val/success_rate'].mean - 0.6) < 1e-12);
    const none = { mean: null, std: null, n: 0, min: null, max: null, interval: null };
    assert.deepEqual([grpo.failed, grpo.metrics['val/success_rate']], [1, none]);
    const by = (await call('GET', `/v1/sweeps/${id}/comparison?over=/estimator&metrics=a,b`)).json();
    assert.deepEqual(
      by.items.map(({ values }: { values: object }) => values),
      [{ '/training/seed': 1 }, { '/training/seed': 2 }],
    );
    assert.deepEqual(Object.keys(by.items[0].metrics), ['a', 'b']);
  });

  test('the comparison of a sweep is paged, and refuses an axis that the sweep does not have', async () => {
    const { id } = await expandedSweep(store, 5);
    const first = (await call('GET', `/v1/sweeps/${id}/comparison?limit=3`)).json();
    const rest = (await call('GET', `/v1/sweeps/${id}/comparison?limit=3&cursor=${first.next}`)).json();
    assert.deepEqual([first.items.length, rest.items.length, rest.next], [3, 2, null]);
    const wrong = await call('GET', `/v1/sweeps/${id}/comparison?over=/steps`);
    assert.deepEqual([wrong.statusCode, wrong.json().problems[0].field], [400, 'over']);
  });
});

test('a deleted child still counts in its sweep, and the sweep, its comparison and its rerun work without it', async () => {
  const { id } = await store.sweeps.create(sweepInput(sweepRequest(2)));
  const ids = await expandAll(store, id);
  await end('failed', ids[0]!);
  await end('succeeded', ids[1]!, 0.5);
  assert.equal((await call('DELETE', `/v1/experiments/${ids[0]}`)).statusCode, 204);
  const sweep = (await call('GET', `/v1/sweeps/${id}`)).json();
  assert.deepEqual([sweep.state, sweep.counts.failed, sweep.counts.succeeded], ['done', 1, 1]);
  assert.deepEqual(
    sweep.children.map(({ state }: { state: string | null }) => state),
    [null, 'succeeded'],
  );
  assert.equal((await call('GET', `/v1/sweeps/${id}/comparison`)).statusCode, 200);
  const rerun = await call('POST', `/v1/sweeps/${id}/rerun-failed`);
  assert.deepEqual([rerun.statusCode, rerun.json().rerun], [202, 0]);
  const { items } = (await call('GET', `/v1/experiments?sweep=${id}`)).json();
  assert.deepEqual(
    items.map((item: { id: string }) => item.id),
    [ids[1]],
  );
});

test('a sweep is compared by the metric of its spec, and a list names its best combination', async () => {
  const request = { ...sweepRequest(3), spec: { engine: 'replay' }, metric: { name: 'loss', goal: 'min' } };
  const { id } = (await call('POST', '/v1/sweeps', { body: request })).json();
  const children = await expandAll(store, id);
  for (const [at, experiment] of children.slice(0, 2).entries()) {
    const lease = await claimed(store as Store, experiment);
    await store.attempts.confirm(lease);
    const event = { type: 'metrics', step: 1, values: { loss: 0.5 - at / 8 } } as const;
    await store.events.append(lease, [{ sequence: 1, at: 1, event }]);
    await store.attempts.end(lease, { to: 'succeeded', reason: 'a test' });
  }
  const listed = async (query: string) =>
    (await call('GET', `/v1/sweeps?limit=1${query}`)).json().items[0] as Record<string, unknown>;
  assert.deepEqual((await listed('')).metric, { name: 'loss', goal: 'min' });
  assert.equal((await listed('')).best, undefined);
  const best = { values: { '/replay/batches': 1 }, mean: 0.375, combinations: 3 };
  assert.deepEqual((await listed('&best=true')).best, best);
  const comparison = (await call('GET', `/v1/sweeps/${id}/comparison`)).json();
  assert.deepEqual(comparison.metrics, ['loss']);
  const series = (await call('GET', `/v1/sweeps/${id}/series`)).json();
  assert.deepEqual([series.metric, series.items[1].points[0].mean], ['loss', 0.375]);
});

test('GET /v1/sweeps sorts by a value over pages, the best by the goal of each sweep', async () => {
  const project = 'sorted';
  for (const [name, goal, value] of [
    ['b', 'max', 0.2],
    ['a', 'max', 0.9],
    ['c', 'min', 0.5],
    ['d', 'max', null],
  ] as const) {
    const metric = { name: 'val/success_rate', goal } as const;
    const input = sweepInput({ ...sweepRequest(1), name, metric }, { project, name, metric });
    const { id } = await store.sweeps.create(input);
    const [child] = await expandAll(store, id);
    if (value !== null) await end('succeeded', child!, value);
  }
  const names = async (sort: string, cursor?: string): Promise<string[]> => {
    const query = new URLSearchParams({ project, limit: '3', sort, ...(cursor && { cursor }) });
    const { items, next } = (await call('GET', `/v1/sweeps?${query}`)).json();
    const own = items.map((one: { name: string }) => one.name);
    return next === null ? own : [...own, ...(await names(sort, next))];
  };
  assert.deepEqual(await names('name'), ['a', 'b', 'c', 'd']);
  assert.deepEqual(await names('-created'), ['d', 'c', 'a', 'b']);
  assert.deepEqual(await names('created'), ['b', 'a', 'c', 'd']);
  assert.deepEqual(await names('-best'), ['a', 'b', 'c', 'd']);
  assert.equal((await names('progress'))[0], 'd');
  assert.equal((await call('GET', '/v1/sweeps?sort=-state')).statusCode, 400);
  const { next } = (await call('GET', `/v1/sweeps?project=${project}&limit=1&sort=name`)).json();
  assert.equal(
    (await call('GET', `/v1/sweeps?project=${project}&limit=1&sort=-name&cursor=${next}`)).statusCode,
    400,
  );
});

test('the best combination of a sweep is found again only when more children have succeeded', async () => {
  const { id } = await store.sweeps.create(sweepInput(sweepRequest(3), { project: 'remembered' }));
  const children = await expandAll(store, id);
  const bestOf = async () =>
    (await call('GET', '/v1/sweeps?project=remembered&best=true')).json().items[0].best?.mean;
  const asked: string[] = [];
  const { figures } = store.sweeps;
  store.sweeps.figures = (ids, metrics) => {
    asked.push(...ids);
    return figures(ids, metrics);
  };
  assert.equal(await bestOf(), undefined);
  await end('succeeded', children[0]!, 0.25);
  assert.deepEqual([await bestOf(), await bestOf(), await bestOf()], [0.25, 0.25, 0.25]);
  assert.equal(asked.length, 3);
  await end('succeeded', children[1]!, 0.75);
  assert.equal(await bestOf(), 0.75);
  store.sweeps.figures = figures;
});

test('without a metric of its own a sweep is compared by that of its early stopping', async () => {
  const earlyStopping = { metric: 'loss', goal: 'min', afterSteps: 1, everySteps: 1, minChildren: 1 };
  const body = { ...sweepRequest(2), spec: { engine: 'replay' }, earlyStopping };
  const { id } = (await call('POST', '/v1/sweeps', { body })).json();
  assert.deepEqual((await call('GET', `/v1/sweeps/${id}`)).json().metric, { name: 'loss', goal: 'min' });
});
