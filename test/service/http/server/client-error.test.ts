import assert from 'node:assert/strict';
import { once } from 'node:events';
import { type AddressInfo, connect } from 'node:net';
import { describe, test } from 'node:test';
import { answerClientError } from '../../../../src/http/server/errors.ts';
import { appFor } from '../../../support/http-app.ts';
import type { Scope } from '../../../support/store.ts';

/** Sends bytes to a real server and reads until it closes. */
async function exchange(scope: Scope, text: string, limits = {}): Promise<string> {
  const { app } = await appFor(scope, { limits });
  await app.listen({ port: 0, host: '127.0.0.1' });
  const socket = connect((app.server.address() as AddressInfo).port, '127.0.0.1');
  scope.after(async () => void socket.destroy());
  let received = '';
  socket.on('data', (chunk) => {
    received += chunk.toString();
  });
  socket.on('error', () => {});
  socket.write(text);
  await once(socket, 'close');
  return received;
}

describe('answers to bytes that are not a request', () => {
  test('bytes that are not HTTP get 400 with a problem document', async (t) => {
    const answer = await exchange(t, 'NOT HTTP\r\n\r\n');
    assert.match(answer, /^HTTP\/1\.1 400 Bad Request\r\n/);
    assert.equal(JSON.parse(answer.split('\r\n\r\n')[1]!).code, 'invalid-request');
  });

  test('headers above the limit get 431', async (t) => {
    const answer = await exchange(t, `GET / HTTP/1.1\r\nhost: x\r\nx-big: ${'a'.repeat(20_000)}\r\n\r\n`);
    assert.match(answer, /^HTTP\/1\.1 431 /);
    assert.equal(JSON.parse(answer.split('\r\n\r\n')[1]!).code, 'headers-too-large');
  });

  test('headers and bodies that do not arrive in time get 408, and the connection closes', async (t) => {
    const limits = { requestTimeoutMs: 100 };
    const slowHeaders = await exchange(t, 'GET / HTTP/1.1\r\nhost: x\r\nx-slow: ', limits);
    assert.match(slowHeaders, /^HTTP\/1\.1 408 /);
    assert.match(slowHeaders, /Connection: close/i);
    const { code, retry, type } = JSON.parse(slowHeaders.split('\r\n\r\n')[1]!);
    assert.deepEqual([code, retry, type], ['request-timeout', true, '/errors/request-timeout']);
    const head =
      'POST /login HTTP/1.1\r\nhost: echelon.test\r\ncontent-type: application/json\r\ncontent-length: 50\r\n\r\n{';
    assert.match(await exchange(t, head, limits), /^HTTP\/1\.1 408 /);
  });
});

test('a connection that is already closed gets no answer', () => {
  let destroyed = false;
  const socket = { writable: false, destroy: () => (destroyed = true) };
  answerClientError(Object.assign(new Error('x'), { code: 'EPIPE' }), socket as never);
  assert.ok(destroyed);
});
