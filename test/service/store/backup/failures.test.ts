import assert from 'node:assert/strict';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import { EchelonError } from '../../../../src/core/errors.ts';
import type { ListedArchive, ObjectName } from '../../../../src/store/archive/archive.ts';
import { createDirectoryArchive } from '../../../../src/store/archive/archive-directory.ts';
import { digestOf } from '../../../../src/store/archive/archive-keys.ts';
import {
  createBackup,
  restoreObjects,
  snapshotOf,
  verifyBackup,
} from '../../../../src/store/backup/backup.ts';
import { listBackups } from '../../../../src/store/backup/manifests.ts';

const folder = await mkdtemp(join(tmpdir(), 'echelon-failures-'));
after(() => rm(folder, { recursive: true, force: true }));
let folders = 0;
const newArchive = () => createDirectoryArchive(join(folder, `${folders++}`));

/** More objects than are copied at the same time. */
const OBJECTS = 40;

async function filled(): Promise<ListedArchive> {
  const archive = newArchive();
  for (let at = 0; at < OBJECTS; at++) {
    const bytes = Buffer.from(`object ${at}`);
    await archive.put(`exp-${String(at % 5).padStart(20, '0')}`, digestOf(bytes), bytes);
  }
  return archive;
}

/** When the object with a number is refused: at once, after the next objects have begun, or after all others are done. */
type Moment = 'at once' | 'while others run' | 'when the others are done';
const MOMENTS: Moment[] = ['at once', 'while others run', 'when the others are done'];

/** An archive that refuses the objects with these numbers, in the order in which they are asked for. */
function refusing(archive: ListedArchive, { numbers, moment }: { numbers: number[]; moment: Moment }) {
  let asked = 0;
  let done = 0;
  return {
    ...archive,
    async get(owner: string, digest: string) {
      const number = asked++;
      if (!numbers.includes(number)) {
        const bytes = await archive.get(owner, digest);
        done += 1;
        return bytes;
      }
      if (moment === 'while others run') await setImmediate();
      if (moment === 'when the others are done')
        for (let turns = 0; done < number && turns < 1000; turns++) await setImmediate();
      throw new EchelonError('store-unavailable', `the object with number ${number} cannot be read`);
    },
  };
}

const sourcesOf = (archive: ListedArchive) => ({
  archive,
  snapshot: async () => ({
    position: 'history 1',
    bytes: (async function* () {
      yield Buffer.from('a snapshot');
    })(),
  }),
  installation: 'the-installation',
  version: '0.1.0',
  now: Date.now,
  pause: async () => {},
});

const REFUSED = [
  [0],
  [7],
  [8],
  [OBJECTS / 2],
  [OBJECTS - 1],
  [3, 4, 5],
  Array.from({ length: OBJECTS }, (_, at) => at),
];

test('a backup of an archive with an unreadable object fails at every moment, and leaves no backup', async () => {
  const archive = await filled();
  for (const moment of MOMENTS)
    for (const numbers of REFUSED) {
      const place = newArchive();
      const what = `${moment}: ${numbers.slice(0, 3)}`;
      await assert.rejects(
        createBackup(place, sourcesOf(refusing(archive, { numbers, moment }))),
        /cannot be read/,
        what,
      );
      assert.deepEqual((await listBackups(place)).backups, [], what);
    }
});

test('a verification and a restore of a place with an unreadable object fail at every moment', async () => {
  const place = newArchive();
  const backup = await createBackup(place, sourcesOf(await filled()));
  for (const moment of MOMENTS)
    for (const numbers of REFUSED) {
      const what = `${moment}: ${numbers.slice(0, 3)}`;
      const broken = () => refusing(place, { numbers, moment });
      await assert.rejects(restoreObjects(broken(), backup, newArchive()), /cannot be read/, what);
      await assert.rejects(verifyBackup(broken(), backup), /cannot be read/, what);
    }
});

test('a restore fails if the archive takes nothing, and a backup if the place takes nothing', async () => {
  const place = newArchive();
  const backup = await createBackup(place, sourcesOf(await filled()));
  const full = (archive: ListedArchive): ListedArchive => ({
    ...archive,
    put: async () => {
      throw new EchelonError('store-unavailable', 'no space left');
    },
  });
  await assert.rejects(restoreObjects(place, backup, full(newArchive())), /no space left/);
  await assert.rejects(createBackup(full(newArchive()), sourcesOf(await filled())), /no space left/);
});

test('nothing is copied any more when the error of a restore arrives', async () => {
  const place = newArchive();
  const backup = await createBackup(place, sourcesOf(await filled()));
  const target = newArchive();
  let copying = 0;
  const slow: ListedArchive = {
    ...target,
    async put(owner, digest, bytes) {
      copying++;
      for (let turns = 0; turns < 50; turns++) await setImmediate();
      await target.put(owner, digest, bytes);
      copying--;
    },
  };
  const broken = refusing(place, { numbers: [7], moment: 'when the others are done' });
  await assert.rejects(restoreObjects(broken, backup, slow), /cannot be read/);
  assert.equal(copying, 0);
});

test('a list of objects that breaks off fails the backup', async () => {
  const archive = await filled();
  for (const after of [0, 3, 20]) {
    const breaking: ListedArchive = {
      ...archive,
      async *list(owner?: string): AsyncGenerator<ObjectName> {
        let left = after;
        for await (const one of archive.list(owner)) {
          if (left-- === 0) throw new EchelonError('store-unavailable', 'the list broke off');
          yield one;
        }
      },
    };
    const place = newArchive();
    await assert.rejects(createBackup(place, sourcesOf(breaking)), /broke off/);
    assert.deepEqual((await listBackups(place)).backups, []);
  }
});

test('a backup is restored whole, and one whose snapshot is not whole is not', async () => {
  const [place, archive] = [newArchive(), await filled()];
  const backup = await createBackup(place, sourcesOf(archive));
  const target = newArchive();
  await restoreObjects(place, backup, target);
  const namesOf = async (one: ListedArchive) =>
    (await Array.fromAsync(one.list())).map(({ digest }) => digest).sort();
  assert.deepEqual(await namesOf(target), await namesOf(archive));
  assert.equal(String(Buffer.concat(await Array.fromAsync(snapshotOf(place, backup)))), 'a snapshot');
  await assert.rejects(
    Array.fromAsync(snapshotOf(place, { ...backup, snapshotBytes: 11 })),
    /10 bytes of Redis instead of 11/,
  );
  assert.ok((await readdir(folder)).length > 0);
});
