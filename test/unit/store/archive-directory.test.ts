import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { createDirectoryArchive } from '../../../src/store/archive-directory.ts';
import { coded, type Scope } from '../../support/store.ts';

async function folderFor(t: Scope): Promise<string> {
  const root = await mkdtemp(join(tmpdir(), 'echelon-archive-'));
  t.after(() => rm(root, { recursive: true, force: true }));
  return root;
}

const bytes = Uint8Array.from({ length: 300 }, (_v, at) => at % 256);
const digest = createHash('sha256').update(bytes).digest('hex');
const place = join(digest.slice(0, 2), digest.slice(2, 4), digest);

describe('directory archive', () => {
  test('gives back what it was given, from a directory of few entries', async (t) => {
    const root = join(await folderFor(t), 'made', 'when needed');
    const archive = createDirectoryArchive(root);
    await Promise.all([archive.put(digest, bytes), archive.put(digest, bytes)]);
    await archive.put(digest, bytes);
    assert.deepEqual(await archive.get(digest), Buffer.from(bytes));
    const files = (await readdir(root, { recursive: true, withFileTypes: true })).filter((e) => e.isFile());
    assert.deepEqual(
      files.map((file) => join(file.parentPath, file.name)),
      [join(root, place)],
    );
  });

  /* Seen to fail where `get` does not compare the digest. */
  test('never gives out other bytes than those of the digest', async (t) => {
    const root = await folderFor(t);
    const archive = createDirectoryArchive(root);
    await assert.rejects(archive.put(digest, bytes.subarray(1)), coded('internal'));
    await archive.put(digest, bytes);
    const damaged = await readFile(join(root, place));
    damaged[7]! ^= 1;
    await writeFile(join(root, place), damaged);
    await assert.rejects(archive.get(digest), coded('not-found'));
  });

  test('writes a file anew that was cut short', async (t) => {
    const root = await folderFor(t);
    const archive = createDirectoryArchive(root);
    await archive.put(digest, bytes);
    await writeFile(join(root, place), bytes.subarray(0, 10));
    await archive.put(digest, bytes);
    assert.deepEqual(await archive.get(digest), Buffer.from(bytes));
  });

  test('says what it does not have, and takes nothing else for a digest', async (t) => {
    const archive = createDirectoryArchive(await folderFor(t));
    await assert.rejects(archive.get(digest), coded('not-found'));
    for (const name of ['../../etc/passwd', digest.toUpperCase(), '', `${digest}/..`]) {
      await assert.rejects(archive.get(name), coded('not-found'));
      await assert.rejects(archive.put(name, bytes), coded('not-found'));
    }
  });

  test('says that it is unavailable where it cannot write, and leaves nothing behind', async (t) => {
    const root = await folderFor(t);
    await writeFile(join(root, digest.slice(0, 2)), 'a file where a directory must be');
    await assert.rejects(createDirectoryArchive(root).put(digest, bytes), coded('store-unavailable'));
    assert.deepEqual(await readdir(root), [digest.slice(0, 2)]);
  });
});
