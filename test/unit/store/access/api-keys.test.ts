import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { newProject } from '../../../../src/schemas/project.ts';
import { storedKey } from '../../../support/access.ts';
import { storeFor } from '../../../support/store.ts';

const DAY = 24 * 3600 * 1000;

test('keys are kept, listed from the newest and changed one change at a time', async () => {
  const { store } = await storeFor({ after });
  await store.createKey(storedKey({ id: 'one', createdAt: 1 }));
  await store.createKey(storedKey({ id: 'two', createdAt: 2 }));
  await store.createKey(storedKey({ id: 'two', createdAt: 2, name: 'a repetition changes nothing' }));
  await store.keyUsed('one', 77);
  assert.deepEqual(
    (await store.keys()).map(({ id, name, lastUsedAt }) => [id, name, lastUsedAt]),
    [
      ['two', 'a key', null],
      ['one', 'a key', 77],
    ],
  );
  const both = await Promise.all([
    store.changeKey('one', (key) => ({ ...key, revokedAt: 5 })),
    store.changeKey('one', (key) => ({ ...key, name: 'new' })),
  ]);
  assert.ok(both.every((key) => key !== undefined));
  const one = (await store.keys()).find(({ id }) => id === 'one');
  assert.deepEqual([one?.revokedAt, one?.name], [5, 'new']);
  assert.equal(await store.changeKey('three', (key) => key), undefined);
  assert.equal(await store.changeKey('one', () => undefined), undefined);
});

test('every change makes another version, and nothing else does', async () => {
  const { store } = await storeFor({ after });
  const versions = [await store.accessVersion()];
  const changed = async (change: () => Promise<unknown>) => {
    await change();
    versions.push(await store.accessVersion());
  };
  await changed(() => store.createKey(storedKey()));
  await changed(() => store.changeKey(storedKey().id, (key) => ({ ...key, revokedAt: 5 })));
  await changed(() => store.createProject(newProject({ name: 'a' }, 1)));
  await changed(() => store.removeProject('a', 1));
  assert.equal(new Set(versions).size, versions.length);
  await store.keyUsed(storedKey().id, 5);
  assert.equal(await store.accessVersion(), versions.at(-1));
});

test('a key is not made for a project that is gone', async () => {
  const { store } = await storeFor({ after });
  // Fails without the look at the project in swap-access.lua.
  assert.equal(await store.createKey(storedKey({ id: 'one', project: 'gone' })), false);
  assert.deepEqual(await store.keys(), []);
  await store.createProject(newProject({ name: 'there' }, 1));
  for (const project of ['there', 'default', null]) {
    assert.equal(await store.createKey(storedKey({ id: `of ${project}`, project })), true);
  }
});

test('keys that ended long ago are forgotten, so that their number is bounded', async () => {
  const { store } = await storeFor({ after });
  await store.createKey(storedKey({ id: 'revoked', revokedAt: 0 }));
  await store.createKey(storedKey({ id: 'expired', expiresAt: 0 }));
  await store.createKey(storedKey({ id: 'live' }));
  await store.keyUsed('revoked', 1);
  await store.createKey(storedKey({ id: 'new', createdAt: 89 * DAY }));
  assert.equal((await store.keys()).length, 4);
  // Fails without forgetEnded.
  await store.createKey(storedKey({ id: 'newer', createdAt: 91 * DAY }));
  assert.deepEqual((await store.keys()).map(({ id }) => id).sort(), ['live', 'new', 'newer']);
});
