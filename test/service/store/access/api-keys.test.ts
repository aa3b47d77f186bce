import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { newProject } from '../../../../src/schemas/project.ts';
import { storedKey } from '../../../support/access.ts';
import { storeFor } from '../../../support/store.ts';

const DAY = 24 * 3600 * 1000;

test('keys are kept, listed from the newest and changed one change at a time', async () => {
  const { store } = await storeFor({ after });
  await store.access.createKey(storedKey({ id: 'one', createdAt: 1 }));
  await store.access.createKey(storedKey({ id: 'two', createdAt: 2 }));
  await store.access.createKey(storedKey({ id: 'two', createdAt: 2, name: 'a repetition changes nothing' }));
  await store.access.keyUsed('one', 77);
  assert.deepEqual(
    (await store.access.keys()).map(({ id, name, lastUsedAt }) => [id, name, lastUsedAt]),
    [
      ['two', 'a key', null],
      ['one', 'a key', 77],
    ],
  );
  const both = await Promise.all([
    store.access.changeKey('one', (key) => ({ ...key, revokedAt: 5 })),
    store.access.changeKey('one', (key) => ({ ...key, name: 'new' })),
  ]);
  assert.ok(both.every((key) => key !== undefined));
  const one = (await store.access.keys()).find(({ id }) => id === 'one');
  assert.deepEqual([one?.revokedAt, one?.name], [5, 'new']);
  assert.equal(await store.access.changeKey('three', (key) => key), undefined);
  assert.equal(await store.access.changeKey('one', () => undefined), undefined);
});

test('every change makes another version, and nothing else does', async () => {
  const { store } = await storeFor({ after });
  const versions = [await store.access.version()];
  const changed = async (change: () => Promise<unknown>) => {
    await change();
    versions.push(await store.access.version());
  };
  await changed(() => store.access.createKey(storedKey()));
  await changed(() => store.access.changeKey(storedKey().id, (key) => ({ ...key, revokedAt: 5 })));
  await changed(() => store.projects.create(newProject({ name: 'a' }, 1)));
  await changed(() => store.projects.remove('a', 1));
  assert.equal(new Set(versions).size, versions.length);
  await store.access.keyUsed(storedKey().id, 5);
  assert.equal(await store.access.version(), versions.at(-1));
});

test('a key is not made for a project that is gone', async () => {
  const { store } = await storeFor({ after });
  // Fails without the look at the project in swap-access.lua.
  assert.equal(await store.access.createKey(storedKey({ id: 'one', project: 'gone' })), false);
  assert.deepEqual(await store.access.keys(), []);
  await store.projects.create(newProject({ name: 'there' }, 1));
  for (const project of ['there', 'default', null]) {
    assert.equal(await store.access.createKey(storedKey({ id: `of ${project}`, project })), true);
  }
});

test('keys that ended long ago are forgotten, so that their number is bounded', async () => {
  const { store } = await storeFor({ after });
  await store.access.createKey(storedKey({ id: 'revoked', revokedAt: 0 }));
  await store.access.createKey(storedKey({ id: 'expired', expiresAt: 0 }));
  await store.access.createKey(storedKey({ id: 'live' }));
  await store.access.keyUsed('revoked', 1);
  await store.access.createKey(storedKey({ id: 'new', createdAt: 89 * DAY }));
  assert.equal((await store.access.keys()).length, 4);
  // Fails without forgetEnded.
  await store.access.createKey(storedKey({ id: 'newer', createdAt: 91 * DAY }));
  assert.deepEqual((await store.access.keys()).map(({ id }) => id).sort(), ['live', 'new', 'newer']);
});
