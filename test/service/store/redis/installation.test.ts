import assert from 'node:assert/strict';
import { test } from 'node:test';
import { coded, storeFor, submitInput } from '../../../support/store.ts';

test('the first process sets the id of the installation, and later ones get it', async (t) => {
  const { store } = await storeFor(t);
  assert.equal(await store.installation(), null);
  assert.equal(await store.bind('first'), 'first');
  assert.equal(await store.bind('second'), 'first');
});

test('after its Redis was replaced by another or an empty one, a store writes nothing there', async (t) => {
  const { store, redis } = await storeFor(t);
  await store.bind('own');
  const { id } = await store.experiments.submit(submitInput());
  assert.notEqual(await store.experiments.get(id), null);
  await redis.set('{echelon}:archive:id', 'another');
  await assert.rejects(store.experiments.submit(submitInput()), coded('store-foreign'));
  await redis.flushall();
  await assert.rejects(store.experiments.submit(submitInput()), coded('store-foreign'));
  assert.deepEqual(await redis.keys('*'), []);
});

/* Fails without the comparison: what another version means by its keys is misread. */
test('a store of an older or a later layout is refused in words at the start, and nothing is written there', async (t) => {
  const { store, redis } = await storeFor(t);
  await redis.set('{echelon}:archive:id', 'own');
  await assert.rejects(
    store.bind('own'),
    /from before 0\.1\.0; this version of Echelon reads layout 1\. Start the/,
  );
  await redis.set('{echelon}:layout', '2');
  await assert.rejects(store.bind('own'), coded('store-foreign'));
  await assert.rejects(store.bind('own'), /is in layout 2; this version of Echelon reads layout 1/);
  assert.deepEqual((await redis.keys('*')).sort(), ['{echelon}:archive:id', '{echelon}:layout']);
  await redis.set('{echelon}:layout', '1');
  assert.equal(await store.bind('another'), 'own');
});
