import assert from 'node:assert/strict';
import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { zstdCompressSync } from 'node:zlib';
import { createDirectoryArchive } from '../../../../src/store/archive/archive-directory.ts';
import { digestOf } from '../../../../src/store/archive/archive-keys.ts';
import { createBackup, pruneBackups, verifyBackup } from '../../../../src/store/backup/backup.ts';
import { listBackups } from '../../../../src/store/backup/manifests.ts';

const folder = await mkdtemp(join(tmpdir(), 'echelon-manifests-'));
after(() => rm(folder, { recursive: true, force: true }));

const GOOD = {
  format: 1,
  createdAt: 1,
  version: '0.1.0',
  installation: 'i',
  position: 'h 1',
  snapshotBytes: 1,
  pieces: ['a'.repeat(64)],
  objects: {},
};

let places = 0;
/** A place with two backups. */
async function placeFor() {
  const root = join(folder, `${places++}`);
  const [place, archive] = [createDirectoryArchive(root), createDirectoryArchive(`${root}-archive`)];
  let now = Date.now();
  const add = async (text: string) => {
    const bytes = Buffer.from(text);
    await archive.put('exp-00000000000000000001', digestOf(bytes), bytes);
    return await createBackup(place, {
      archive,
      snapshot: async () => ({
        position: `h ${now}`,
        bytes: (async function* () {
          yield bytes;
        })(),
      }),
      installation: 'i',
      version: '0.1.0',
      now: () => now++,
      pause: async () => {},
    });
  };
  return { root, place, older: await add('one'), newer: await add('two') };
}

const put = async (place: ReturnType<typeof createDirectoryArchive>, bytes: Uint8Array) =>
  await place.put('backups', digestOf(bytes), bytes);

test('a manifest that is no backup is named, and the backups beside it are listed, verified and pruned', async () => {
  const control = '\u001b[2J';
  const bad: unknown[] = [
    null,
    7,
    [],
    {},
    { ...GOOD, version: control },
    { ...GOOD, installation: `i\n::error::x` },
    { ...GOOD, createdAt: '1' },
    { ...GOOD, createdAt: 1e300 },
    { ...GOOD, createdAt: Number.MAX_SAFE_INTEGER },
    { ...GOOD, snapshotBytes: 0 },
    { ...GOOD, pieces: [] },
    { ...GOOD, pieces: ['../../x'] },
    { ...GOOD, pieces: 'a' },
    { ...GOOD, objects: { '../../x': ['a'.repeat(64)] } },
    { ...GOOD, objects: { 'exp-a': [7] } },
    { ...GOOD, objects: [] },
    { ...GOOD, format: 0 },
    { ...GOOD, format: 'x' },
  ];
  for (const content of bad) {
    const { place, older, newer } = await placeFor();
    await put(place, zstdCompressSync(JSON.stringify(content)));
    const { backups, unreadable } = await listBackups(place);
    assert.deepEqual(
      backups.map(({ name }) => name),
      [newer.name, older.name],
    );
    assert.equal(unreadable.length, 1, JSON.stringify(content));
    assert.ok(!JSON.stringify(unreadable).includes(control));
    assert.deepEqual(await verifyBackup(place, backups[0]!), []);
    const pruned = await pruneBackups(place, { keep: 1, now: Date.now });
    assert.deepEqual([pruned.kept.length, pruned.deleted.length, pruned.unreadable.length], [1, 1, 1]);
    assert.deepEqual((await listBackups(place)).unreadable, []);
  }
});

test('a manifest whose bytes are damaged, no archive or no JSON is named', async () => {
  const { root, place, newer, older } = await placeFor();
  await put(place, Buffer.from('no archive'));
  await put(place, zstdCompressSync('{'));
  const manifests = join(root, 'x', 'ps', 'backups');
  assert.equal((await readdir(manifests)).length, 4);
  await writeFile(join(manifests, older.name), 'changed');
  const { backups, unreadable } = await listBackups(place);
  assert.deepEqual(
    backups.map(({ name }) => name),
    [newer.name],
  );
  assert.equal(unreadable.length, 3);
});

test('a small manifest of gigabytes is not unpacked', async () => {
  const { place } = await placeFor();
  // 512 MiB of one character in some 50 kB.
  const packed = zstdCompressSync(Buffer.alloc(512 * 1024 * 1024, '['));
  assert.ok(packed.length < 100_000);
  await put(place, packed);
  const before = process.memoryUsage().rss;
  const { backups, unreadable } = await listBackups(place);
  assert.deepEqual([backups.length, unreadable.length], [2, 1]);
  assert.ok(process.memoryUsage().rss - before < 64 * 1024 * 1024);
});

test('a manifest of many objects is read', async () => {
  const { place } = await placeFor();
  const digests = Array.from({ length: 50_000 }, (_, at) => digestOf(Buffer.from(String(at))));
  await put(place, zstdCompressSync(JSON.stringify({ ...GOOD, objects: { 'exp-many': digests } })));
  const { backups, unreadable } = await listBackups(place);
  assert.deepEqual([backups.length, unreadable.length], [3, 0]);
});

test('a backup of a later version is named, and nothing is pruned beside it', async () => {
  const { place } = await placeFor();
  await put(place, zstdCompressSync(JSON.stringify({ ...GOOD, format: 2, more: true })));
  assert.equal((await listBackups(place)).unreadable[0]!.later, true);
  await assert.rejects(pruneBackups(place, { keep: 1, now: Date.now }), { code: 'record-too-new' });
  assert.equal((await listBackups(place)).backups.length, 2);
});
