import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createChannel } from '../src/channel.ts';
import { packageUri, uploadPackage } from '../src/packages.ts';
import { startFakeRay } from './support/fake-ray.ts';

test('the name follows from the content', () => {
  assert.match(packageUri(Buffer.from('a')), /^gcs:\/\/_ray_pkg_[0-9a-f]{32}\.zip$/);
  assert.equal(packageUri(Buffer.from('a')), packageUri(Buffer.from('a')));
  assert.notEqual(packageUri(Buffer.from('a')), packageUri(Buffer.from('b')));
});

test('a package is uploaded once', async () => {
  await using ray = await startFakeRay();
  const channel = createChannel({ address: ray.address });
  const zip = Buffer.from('zip');
  const uri = await uploadPackage(channel, zip);
  assert.equal(String(ray.kv.get(uri)), 'zip');
  ray.kv.set(uri, Buffer.from('what is there stays'));
  assert.equal(await uploadPackage(channel, zip), uri);
  assert.equal(String(ray.kv.get(uri)), 'what is there stays');
  channel.close();
});
