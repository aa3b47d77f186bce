import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { describe, test } from 'node:test';
import { createS3Archive } from '../../../../src/store/archive/archive-s3.ts';
import { testArchive } from '../../../support/archive-suite.ts';
import { S3_BUCKET, S3_KEYS, s3ServerFor } from '../../../support/s3-server.ts';
import { coded, type Scope } from '../../../support/store.ts';

const bytes = Buffer.from('bytes of a batch');
const digest = createHash('sha256').update(bytes).digest('hex');
const PATIENCE = { requestMs: 60_000, tries: 3, firstWaitMs: 1 };

async function setUp(t: Scope, changes: Partial<Parameters<typeof createS3Archive>[0]> = {}) {
  const server = await s3ServerFor(t);
  const bucket = { name: S3_BUCKET, prefix: 'team a/echelon', endpoint: server.url, ...S3_KEYS, ...changes };
  return { server, archive: createS3Archive(bucket, PATIENCE), bucket };
}

describe('S3 archive', () => {
  testArchive(async (t) => {
    const { server, archive } = await setUp(t);
    return {
      archive,
      names: async () => [...server.objects.keys()],
      overwrite: async (owner, name, changed) =>
        void server.objects.set(`team a/echelon/x/${owner}/${name}`, Buffer.from(changed)),
    };
  });

  test('a bucket may be used without a prefix', async (t) => {
    const { server, archive } = await setUp(t, { prefix: '' });
    await archive.put('exp-a', digest, bytes);
    assert.deepEqual([...server.objects.keys()], [`x/exp-a/${digest}`]);
    assert.deepEqual(Buffer.from(await archive.get('exp-a', digest)), bytes);
  });

  test('rides out a busy service and a cut connection, for a while', async (t) => {
    const { server, archive } = await setUp(t);
    server.failing.push(503, 0);
    await archive.put('exp-a', digest, bytes);
    server.failing.push(500, 429);
    assert.deepEqual(Buffer.from(await archive.get('exp-a', digest)), bytes);
    server.failing.push(500, 500, 500);
    await assert.rejects(archive.get('exp-a', digest), coded('store-unavailable'));
    assert.equal(server.failing.length, 0);
    server.failing.push(0, 503);
    await archive.remove('exp-a');
    assert.equal(server.objects.size, 0);
  });

  test('a service that does not answer is given up in time', async (t) => {
    const { server, bucket } = await setUp(t);
    const archive = createS3Archive(bucket, { requestMs: 50, tries: 2, firstWaitMs: 1 });
    server.failing.push(-1, -1);
    await assert.rejects(archive.get('exp-a', digest), coded('store-unavailable'));
  });

  /* The server computes each signature anew; it would take none of these. */
  test('a wrong key is refused at once and told without the key', async (t) => {
    const { server, archive } = await setUp(t, { secretKey: 'another-secret' });
    await assert.rejects(archive.put('exp-a', digest, bytes), (error: Error) => {
      assert.match(error.message, /403/);
      assert.doesNotMatch(JSON.stringify(error) + error.stack, /another-secret/);
      return coded('store-unavailable')(error);
    });
    assert.equal(server.answered.length, 1);
    await assert.rejects(archive.remove('exp-a'), coded('store-unavailable'));
  });

  test('a bucket that is not there is said to be missing', async (t) => {
    const { archive } = await setUp(t, { name: 'no-bucket' });
    await assert.rejects(archive.remove('exp-a'), /there is no bucket no-bucket/);
    await assert.rejects(archive.put('exp-a', digest, bytes), coded('store-unavailable'));
  });
});
