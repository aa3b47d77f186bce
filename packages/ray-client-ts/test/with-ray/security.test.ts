import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { functionRef } from '../../src/code.ts';
import { answersWithoutToken, connect } from '../../src/connect.ts';
import { credentialsFromEnvironment } from '../../src/credentials.ts';
import { RayAuthenticationError, RayUnreachableError } from '../../src/errors.ts';
import { type RayHead, startRayHead } from '../support/ray-head.ts';

const join = functionRef('posixpath:join');
const limit = { timeoutMs: 90_000 };

async function worksWith(head: RayHead, credentials: Parameters<typeof connect>[1]): Promise<void> {
  await using ray = await connect(head.address, { ...credentials, selfTest: false });
  assert.equal(await ray.call(join, ['a', 'b'], { ...limit, numCpus: 0 }), 'a/b');
  assert.equal((await ray.nodes()).length, 1);
}

describe('a head with TLS and a token', () => {
  test('a head with TLS and a token accepts a client that has both, from the environment that Ray itself reads', async (t) => {
    await using head = await startRayHead({ tls: true });
    const { token, tls } = head.credentials;
    assert.ok(token !== undefined && tls !== undefined);
    await worksWith(head, credentialsFromEnvironment(head.environment));

    await t.test('a certificate for another name, when told so', async () => {
      await worksWith(head, { token, tls: { ...tls, serverName: 'localhost' } });
    });

    // No server answers: each waits for this time.
    const quick = { connectTimeoutMs: 1_500, selfTest: false };
    await t.test('without a certificate no server answers', async () => {
      await assert.rejects(
        connect(head.address, { token, tls: { ca: tls.ca ?? '' }, ...quick }),
        RayUnreachableError,
      );
    });
    await t.test('nor in plain text', async () => {
      await assert.rejects(connect(head.address, { token, ...quick }), RayUnreachableError);
    });
    await t.test('a certificate alone is not enough, nor one with a wrong token', async (sub) => {
      if (!(await tokensAreKnown(head))) return sub.skip('this Ray has no tokens');
      const refused = (token?: string) =>
        connect(head.address, { tls, ...(token !== undefined && { token }), selfTest: false });
      await assert.rejects(refused(), RayAuthenticationError);
      await assert.rejects(refused('wrong'), (error) => {
        return error instanceof RayAuthenticationError && /RAY_AUTH_TOKEN/.test(error.message);
      });
      assert.equal(await answersWithoutToken(head.address, { tls }), false);
    });
  });
});

/** Tokens came with Ray 2.52: before, every cluster is open. */
async function tokensAreKnown(head: RayHead): Promise<boolean> {
  await using ray = await connect(head.address, {
    ...head.credentials,
    selfTest: false,
    reconnectGraceMs: 0,
  });
  const [major = 0, minor = 0] = ray.rayVersion.split('.').map(Number);
  return major > 2 || minor >= 52;
}
