import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createChannel } from '../src/channel.ts';
import { actorClass, functionRef, sourceActorClass, sourceFunction } from '../src/code.ts';
import { packageUri, uploadPackage } from '../src/packages.ts';
import { startFakeRay } from './support/fake-ray.ts';

test('a reference is the pickled global', () => {
  const fn = functionRef('stockmod:add');
  assert.equal(Buffer.from(fn.pickle).toString('hex'), '80048c0873746f636b6d6f648c03616464932e');
  assert.deepEqual([fn.kind, fn.label], ['function', 'stockmod:add']);
  assert.equal(actorClass('a.b:C.D').kind, 'class');
});

test('source text carries its own code', () => {
  assert.match(
    Buffer.from(sourceFunction('def f(): pass', 'f').pickle).toString('latin1'),
    /def f\(\): pass/,
  );
  assert.equal(sourceActorClass('class A: pass', 'A').label, 'A');
});

test('what names no code is refused', () => {
  for (const text of ['', 'module', 'module.fn', ':f', 'm:', 'm:f g', 'm-n:f', 'm:f()']) {
    assert.throws(() => functionRef(text), TypeError, text);
  }
  assert.throws(() => sourceFunction('x = 1', 'not a name'), TypeError);
});

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
