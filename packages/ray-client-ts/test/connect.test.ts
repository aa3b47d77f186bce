import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { answersWithoutToken, connect } from '../src/connect.ts';
import { RayAuthenticationError, RaySessionRefusedError } from '../src/errors.ts';
import { writePickle } from '../src/pickle/writer.ts';
import { startFakeRay } from './support/fake-ray.ts';

const run = (): Uint8Array => writePickle('a/b');

describe('connect', () => {
  test('connect tests itself, and `await using` closes the connection', async () => {
    await using ray = await startFakeRay({ run });
    let closed: Promise<unknown>;
    {
      await using connection = await connect(`ray://${ray.address}`);
      closed = connection.closed;
      assert.deepEqual([connection.rayVersion, connection.namespace], ['2.60.0', 'default']);
      assert.deepEqual(connection.warnings, []);
      assert.deepEqual(await connection.namedActors(), [{ name: 'one', namespace: 'default' }]);
      assert.equal(ray.ran(), 1);
    }
    assert.deepEqual(await closed, { kind: 'closed' });
  });

  test('a cluster that computes nonsense is refused', async () => {
    await using ray = await startFakeRay({ run: () => writePickle('nonsense') });
    await assert.rejects(connect(ray.address), RaySessionRefusedError);
  });

  test('the self-test can be omitted; an untested version gives a warning', async () => {
    await using ray = await startFakeRay({ rayVersion: '2.99.0' });
    await using connection = await connect(ray.address, { selfTest: false });
    assert.equal(ray.ran(), 0);
    assert.match(connection.warnings[0] ?? '', /2\.99\.0/);
  });

  test('a wrong token is an authentication error', async () => {
    await using ray = await startFakeRay({ token: 't', run });
    await assert.rejects(connect(ray.address, { token: 'wrong' }), RayAuthenticationError);
    await using connection = await connect(ray.address, { token: 't' });
    assert.equal(connection.address, ray.address);
  });

  test('what is no address is refused at once', async () => {
    await assert.rejects(connect('http://x'), TypeError);
  });

  test('a session that ends tells why', async () => {
    await using ray = await startFakeRay({ run });
    await using connection = await connect(ray.address, { reconnectGraceMs: 0 });
    ray.breakAll();
    const reason = await connection.closed;
    assert.equal(reason.kind, 'lost');
  });
});

test('answersWithoutToken tells open clusters from closed ones', async () => {
  await using open = await startFakeRay();
  await using shut = await startFakeRay({ token: 't' });
  assert.equal(await answersWithoutToken(open.address), true);
  assert.equal(await answersWithoutToken(shut.address), false);
});
