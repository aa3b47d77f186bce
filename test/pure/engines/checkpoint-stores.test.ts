import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  type CheckpointStores,
  checkpointStoreProblems,
  listedStoreProblems,
} from '../../../src/engines/checkpoint-stores.ts';

const MINIO = 's3://runs/vision?scheme=https&endpoint_override=minio.lab:9000';
const isRefused = (url: string, project: string | undefined, ...clusters: CheckpointStores[]) =>
  checkpointStoreProblems({ checkpointStore: { url }, ...(project && { project }) }, clusters).length > 0;

test('a project may name a store that lists the project, and prefixes below it, on every cluster that may run the experiment', () => {
  const listed = { [MINIO]: ['vision'], 'gs://common': ['*'] };
  assert.ok(!isRefused(MINIO, 'vision', listed));
  assert.ok(!isRefused(MINIO.replace('vision', 'vision/a/b'), 'vision', listed));
  // The same parameters in another order.
  assert.ok(!isRefused('s3://runs/vision/?endpoint_override=minio.lab:9000&scheme=https', 'vision', listed));
  assert.ok(!isRefused('gs://common/x', undefined, listed));
  assert.ok(isRefused(MINIO, 'speech', listed));
  assert.ok(isRefused(MINIO, undefined, listed));
  assert.ok(isRefused(MINIO, 'vision', listed, {}));
  assert.deepEqual(checkpointStoreProblems({ checkpointStore: null }, [{}]), []);
  assert.deepEqual(checkpointStoreProblems({}, [{}]), []);
});

test('a bucket, a prefix, a scheme or an endpoint that is not listed is refused, however it is spelled', () => {
  const listed = { [MINIO]: ['*'], 's3://plain/p': ['*'] };
  for (const url of [
    's3://other/vision?scheme=https&endpoint_override=minio.lab:9000',
    's3://runs?scheme=https&endpoint_override=minio.lab:9000',
    's3://runs/vision2?scheme=https&endpoint_override=minio.lab:9000',
    's3://runs/vision/../other?scheme=https&endpoint_override=minio.lab:9000',
    's3://runs/vision',
    's3://runs/vision?scheme=http&endpoint_override=minio.lab:9000',
    's3://runs/vision?scheme=https&endpoint_override=169.254.169.254:9000',
    's3://runs/vision?scheme=https&endpoint_override=minio.lab:9000&region=eu',
    's3://runs/vision?scheme=https&endpoint_override=minio.lab:9000&endpoint_override=127.0.0.1:80',
    's3://plain/p?endpoint_override=127.0.0.1:80',
    'gs://plain/p',
  ])
    assert.ok(isRefused(url, undefined, listed), url);
});

test('an operator lists no metadata address and no URL that states a parameter twice', () => {
  const isWrong = (url: string) => listedStoreProblems({ [url]: ['*'] }).length > 0;
  for (const host of ['169.254.169.254', '169.254.169.254:80', '100.100.100.200', 'metadata.google.internal'])
    assert.ok(isWrong(`s3://bucket/p?endpoint_override=${host}`), host);
  assert.ok(isWrong('s3://bucket/p?region=a&region=b'));
  for (const url of [MINIO, 'gs://common', 's3://bucket/p?endpoint_override=10.0.0.7:9000'])
    assert.ok(!isWrong(url), url);
});
