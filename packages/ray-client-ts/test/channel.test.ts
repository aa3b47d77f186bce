import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createChannel, streamStatus } from '../src/channel.ts';
import { RayAuthenticationError, RayUnreachableError } from '../src/errors.ts';
import { UNARY } from '../src/protocol.ts';
import { startFakeRay } from './support/fake-ray.ts';

test('the token goes with every call', async () => {
  await using ray = await startFakeRay({ token: 'right' });
  const right = createChannel({ address: ray.address, token: 'right' });
  await right.ping();
  const wrong = createChannel({ address: ray.address, token: 'wrong' });
  await assert.rejects(wrong.waitUntilAnswering(5_000), RayAuthenticationError);
  const none = createChannel({ address: ray.address });
  await assert.rejects(
    none.call(UNARY.kvExists, { key: Buffer.from('k') }, { what: 'x' }),
    RayAuthenticationError,
  );
  for (const channel of [right, wrong, none]) channel.close();
});

test('without a server: an error that names the address and a likely reason', async () => {
  const ray = await startFakeRay();
  await ray[Symbol.asyncDispose]();
  const channel = createChannel({ address: ray.address });
  await assert.rejects(channel.waitUntilAnswering(300), (error) => {
    return (
      error instanceof RayUnreachableError && error.message.includes(ray.address) && /TLS/.test(error.message)
    );
  });
  channel.close();
});

test('a closed channel says why', async () => {
  const channel = createChannel({ address: '127.0.0.1:1' });
  channel.close(new RangeError('over'));
  await assert.rejects(channel.ping(), RangeError);
});

test('a stream that ended without a status counts as unavailable', () => {
  assert.equal(streamStatus(undefined), 14);
  assert.equal(streamStatus(Object.assign(new Error('x'), { code: 5 })), 5);
});

test('a token that cannot be sent is refused without being quoted', () => {
  for (const token of ['', 'secret\nsecond', 'sécret']) {
    assert.throws(
      () => createChannel({ address: '127.0.0.1:1', token }),
      (error) => error instanceof RayAuthenticationError && !/s.cret/.test(error.message),
    );
  }
});
