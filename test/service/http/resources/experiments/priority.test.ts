import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { appFor } from '../../../../support/http-app.ts';
import { claimed, storeFor, submitInput } from '../../../../support/store.ts';

const scope = { after };
const { store, redis } = await storeFor(scope);
const { call } = await appFor(scope, { store });

test('a PATCH of the priority of a queued experiment changes its queue position', async () => {
  const [first, second] = [
    await store.experiments.submit(submitInput()),
    await store.experiments.submit(submitInput()),
  ];
  const changed = await call('PATCH', `/v1/experiments/${second.id}`, { body: { priority: 5 } });
  assert.deepEqual([changed.statusCode, changed.json().priority], [200, 5]);
  assert.deepEqual(changed.json().position, { rank: 1, length: 2 });
  assert.deepEqual(await store.queue.ids(10), [second.id, first.id]);
});

test('a PATCH of a priority and a note changes both or nothing', async () => {
  const { id } = await store.experiments.submit(submitInput());
  const path = `/v1/experiments/${id}`;
  const changed = await call('PATCH', path, { body: { priority: 5, note: 'now' } });
  assert.deepEqual([changed.json().priority, changed.json().note], [5, 'now']);
  await redis.config('SET', 'maxmemory', '1');
  const refused = await call('PATCH', path, { body: { priority: 7, note: 'later' } });
  assert.equal(refused.json().code, 'store-full');
  const alone = await call('PATCH', path, { body: { priority: 6 } });
  await redis.config('SET', 'maxmemory', '0');
  assert.deepEqual([alone.json().priority, alone.json().note], [6, 'now']);
  await claimed(store, id);
  assert.equal((await call('PATCH', path, { body: { priority: 7, note: 'x' } })).json().code, 'not-queued');
  assert.equal((await call('GET', path)).json().note, 'now');
});

test('a PATCH of the priority of a started experiment gets 409 not-queued', async () => {
  const { id } = await store.experiments.submit(submitInput());
  await claimed(store, id);
  const refused = await call('PATCH', `/v1/experiments/${id}`, { body: { priority: 5 } });
  assert.deepEqual([refused.statusCode, refused.json().code], [409, 'not-queued']);
  assert.equal((await store.experiments.get(id))?.priority, 0);
  const unknown = await call('PATCH', '/v1/experiments/exp-00000000000000000000', { body: { priority: 5 } });
  assert.equal(unknown.statusCode, 404);
  for (const body of [{}, { priority: 101 }, { priority: '5' }, { priority: 5, name: 'x' }])
    assert.equal(
      (await call('PATCH', `/v1/experiments/${id}`, { body })).statusCode,
      400,
      JSON.stringify(body),
    );
});
