import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openStream } from '../../support/event-stream.ts';
import { appFor, REPLAY } from '../../support/http-app.ts';
import { storeFor } from '../../support/store.ts';

const ROUTES = [
  ['POST', '/v1/experiments', REPLAY],
  ['GET', '/v1/experiments', undefined],
  ['GET', '/v1/queues', undefined],
  ['GET', '/readyz', undefined],
] as const;

for (const how of ['frozen', 'gone'] as const) {
  test(`with Redis ${how}, every request gets 503 in time, and succeeds when Redis is back`, async (t) => {
    const { server, store } = await storeFor(t);
    const { call } = await appFor(t, { store, limits: { storeTimeoutMs: 900 } });
    const { id } = (await call('POST', '/v1/experiments', { body: REPLAY })).json();
    if (how === 'frozen') server.freeze();
    else await server.kill();
    const answers = await Promise.all(
      ROUTES.map(([method, url, body]) => call(method, url, body === undefined ? {} : { body })),
    );
    for (const answer of answers) {
      assert.equal(answer.statusCode, 503, answer.body);
      assert.equal(answer.json().code, 'store-unavailable');
      assert.equal(answer.json().retry, true);
      assert.equal(answer.headers['retry-after'], '1');
    }
    assert.equal((await call('GET', '/healthz')).statusCode, 200);
    if (how === 'frozen') server.thaw();
    else await server.start();
    for (let tries = 0; ; tries++) {
      const answer = await call('GET', `/v1/experiments/${id}`);
      if (answer.statusCode === 200) break;
      assert.equal(answer.statusCode, 503);
      assert.ok(tries < 100);
    }
  });
}

test('a stream continues after a restart of Redis', async (t) => {
  const { server, store } = await storeFor(t);
  const { app, call } = await appFor(t, { store });
  const origin = await app.listen({ port: 0, host: '127.0.0.1' });
  const { id } = (await call('POST', '/v1/experiments', { body: REPLAY })).json();
  const stream = await openStream(t, `${origin}/v1/experiments/${id}/events`);
  assert.equal((await stream.next())?.event, 'state');
  await server.restart();
  for (let tries = 0; (await call('POST', `/v1/experiments/${id}/cancel`)).statusCode === 503; tries++) {
    assert.ok(tries < 100);
  }
  const rest = await stream.rest();
  assert.deepEqual(
    rest.map((event) => event.event),
    ['state', 'end'],
  );
});
