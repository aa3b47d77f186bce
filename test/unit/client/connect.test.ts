import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import {
  ApiError,
  ClientError,
  cancelExperiment,
  connect,
  events,
  getExperiment,
  listExperiments,
  submitExperiment,
} from '../../../src/client/index.ts';
import { appFor, LOCAL, TOKEN } from '../../support/http-app.ts';
import { storeFor } from '../../support/store.ts';

const { store } = await storeFor({ after });
const { app } = await appFor({ after }, { store });
await app.listen({ host: '127.0.0.1', port: 0 });
const address = app.server.address() as { port: number };
const url = `http://127.0.0.1:${address.port}/`;
const client = connect({ url, token: TOKEN });

test('the generated functions submit, read, list and cancel over a real connection', async () => {
  const headers = { 'idempotency-key': 'once' };
  const first = await submitExperiment({ client, body: LOCAL, headers, throwOnError: true });
  const again = await submitExperiment({ client, body: LOCAL, headers, throwOnError: true });
  assert.equal(first.response.status, 202);
  assert.deepEqual(again.data, first.data);
  const path = { id: first.data.id };
  const { data } = await getExperiment({ client, path, throwOnError: true });
  assert.equal(data.state, 'queued');
  const listed = await listExperiments({ client, query: { state: 'queued' } as never, throwOnError: true });
  assert.ok(listed.data.items.some(({ id }) => id === path.id));
  await cancelExperiment({ client, path, body: { reason: 'enough' }, throwOnError: true });
});

test('the events of an experiment come in order, and end with it', async () => {
  const { data } = await submitExperiment({ client, body: LOCAL, throwOnError: true });
  await cancelExperiment({ client, path: { id: data.id }, throwOnError: true });
  const seen: string[] = [];
  for await (const { data: message } of events(client, data.id))
    if (message.event.type === 'state') seen.push(message.event.to);
  assert.deepEqual(seen, ['queued', 'cancelled']);
});

test('a refusal is an ApiError with the problem document, returned or thrown; no answer is a ClientError', async () => {
  const { error, response } = await getExperiment({ client, path: { id: 'none' } });
  assert.equal(response?.status, 404);
  assert.equal(error?.code, 'not-found');
  assert.ok(error instanceof ApiError, String(error));
  const nowhere = connect({ url: 'http://127.0.0.1:1', token: TOKEN });
  await assert.rejects(
    listExperiments({ client: nowhere, throwOnError: true }),
    (thrown: unknown) => thrown instanceof ClientError && thrown.code === 'unreachable',
  );
  await assert.rejects(getExperiment({ client, path: { id: 'none' }, throwOnError: true }), {
    code: 'not-found',
    retry: false,
  });
  // Fails where a refused stream would be opened again until the server's time is over.
  await assert.rejects(
    async () => {
      for await (const one of events(client, 'none')) assert.fail(JSON.stringify(one));
    },
    (thrown: unknown) => thrown instanceof ApiError && thrown.code === 'not-found',
  );
  const stranger = connect({ url, token: 'nobody' });
  assert.equal((await listExperiments({ client: stranger })).error?.code, 'unauthenticated');
});
