import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { loadSettings } from '../../../src/config/settings.ts';
import { startServices } from '../../../src/main.ts';
import { redisFor } from '../../support/redis.ts';
import { S3_BUCKET, S3_KEYS, s3ServerFor } from '../../support/s3-server.ts';
import { coded } from '../../support/store.ts';

test('a process starts on a bucket that it may use, and on no other', async (t) => {
  const redis = await redisFor(t);
  const bucket = await s3ServerFor(t);
  const stateDir = await mkdtemp(join(tmpdir(), 'echelon-bucket-'));
  t.after(() => rm(stateDir, { recursive: true, force: true }));
  const start = (name: string, key: string) =>
    startServices({
      roles: ['api'],
      redis: null,
      clusters: [],
      settings: loadSettings({
        ECHELON_STATE_DIR: stateDir,
        REDIS_URL: redis.url,
        ECHELON_PORT: '0',
        ECHELON_LOG_LEVEL: 'silent',
        ECHELON_ARCHIVE_URL: `s3://${name}/p?endpoint=${bucket.url}&region=${S3_KEYS.region}`,
        ECHELON_ARCHIVE_ACCESS_KEY: S3_KEYS.accessKey,
        ECHELON_ARCHIVE_SECRET_KEY: key,
      }),
    });
  const services = await start(S3_BUCKET, S3_KEYS.secretKey);
  await services.stop();
  assert.ok(bucket.answered.some((line) => /^GET .*list-type=2.* 200$/.test(line)));
  await assert.rejects(start('another-bucket', S3_KEYS.secretKey), coded('store-unavailable'));
  await assert.rejects(start(S3_BUCKET, 'CANARY'), (error: Error) => {
    assert.doesNotMatch(String(error.stack), /CANARY/);
    return coded('store-unavailable')(error);
  });
});
