import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { appFor } from '../../../../support/http-app.ts';
import { running, storeFor } from '../../../../support/store.ts';

const { store } = await storeFor({ after });
const { call } = await appFor({ after }, { store });

test('all checkpoints of an experiment are listed in pages, in order of registration', async () => {
  const lease = await running(store);
  const event = (step: number) => ({ type: 'checkpoint', step, path: `/shared/${step}` }) as const;
  await store.events.append(
    lease,
    [10, 20, 30].map((step, at) => ({ sequence: at + 1, at: 1000 + step, event: event(step) })),
  );
  const path = `/v1/experiments/${lease.experiment}/artifacts`;
  const first = (await call('GET', `${path}?limit=2`)).json();
  assert.deepEqual(first.items[0], {
    kind: 'checkpoint',
    step: 10,
    path: '/shared/10',
    attempt: 1,
    at: 1010,
  });
  const rest = (await call('GET', `${path}?limit=2&cursor=${first.next}`)).json();
  assert.deepEqual(
    [...first.items, ...rest.items].map(({ step }) => step),
    [10, 20, 30],
  );
  assert.equal(rest.next, null);
  assert.equal((await call('GET', `${path}?cursor=made-up`)).json().code, 'invalid-cursor');
});

test('an experiment without artifacts has an empty list, and an unknown id gets 404', async () => {
  const { experiment } = await running(store);
  assert.deepEqual((await call('GET', `/v1/experiments/${experiment}/artifacts`)).json(), {
    items: [],
    next: null,
  });
  for (const id of ['exp-00000000000000000000', '..%2f..', '%2e%2e', '..%5c..', '%00']) {
    assert.equal((await call('GET', `/v1/experiments/${id}/artifacts`)).statusCode, 404, id);
  }
});
