import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseBucket } from '../../../src/config/bucket.ts';

test('a bucket is named by a URL', () => {
  assert.deepEqual(parseBucket('s3://b-1/a/team%20b/?endpoint=https://minio:9000/&region=eu'), {
    name: 'b-1',
    prefix: 'a/team b',
    endpoint: 'https://minio:9000',
    region: 'eu',
  });
  assert.deepEqual(parseBucket('s3://b'), { name: 'b', prefix: '', endpoint: null, region: 'us-east-1' });
});

test('what names none is said in words, without credentials', () => {
  for (const [url, said] of [
    ['https://b/p', /must have the form s3:/],
    ['s3:///p', /must have the form/],
    ['b', /must have the form/],
    ['s3://AK:CANARY@b', /must not hold credentials/],
    ['s3://b?endpont=x', /not "endpont"/],
    ['s3://b?endpoint=minio', /http/],
    ['s3://b?endpoint=https:CANARY', /http/],
  ] as const) {
    const wrong = parseBucket(url);
    assert.ok(typeof wrong === 'string', url);
    assert.match(wrong, said);
    assert.doesNotMatch(wrong, /CANARY/);
  }
});
