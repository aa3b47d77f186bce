import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { appFor } from '../../../../support/http-app.ts';
import { claimed, running, storeFor, submitInput } from '../../../../support/store.ts';

const scope = { after };
const { store } = await storeFor(scope);
const { call } = await appFor(scope, { store });

test('the attempts of an experiment are listed from the first', async () => {
  const { id } = await store.experiments.submit(submitInput());
  const url = `/v1/experiments/${id}/attempts`;
  assert.deepEqual((await call('GET', url)).json(), { items: [] });
  const first = await claimed(store, id);
  await store.attempts.confirm(first);
  await store.attempts.end(first, { to: 'queued', reason: 'again' });
  await claimed(store, id);
  const { items } = (await call('GET', url)).json();
  assert.deepEqual(
    items.map(({ attempt }: { attempt: number }) => attempt),
    [1, 2],
  );
  assert.equal(items[0].cluster, 'local');
  assert.equal(typeof items[0].confirmedAt, 'number');
  assert.equal(items[1].confirmedAt, null);
  assert.equal((await call('GET', '/v1/experiments/exp-00000000000000000000/attempts')).statusCode, 404);
});

test('no answer shows the lease token of an attempt', async () => {
  const lease = await running(store);
  for (const path of ['', '/attempts']) {
    const { body } = await call('GET', `/v1/experiments/${lease.experiment}${path}`);
    assert.ok(!body.includes(lease.token));
  }
});
