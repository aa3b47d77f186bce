import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { mkdtemp, readdir, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { createDirectoryArchive } from '../../../../src/store/archive/archive-directory.ts';
import { testArchive } from '../../../support/archive-suite.ts';
import { coded, type Scope } from '../../../support/store.ts';

async function folderFor(t: Scope): Promise<string> {
  const root = await mkdtemp(join(tmpdir(), 'echelon-archive-'));
  t.after(() => rm(root, { recursive: true, force: true }));
  return root;
}

async function filesIn(root: string): Promise<string[]> {
  const found = await readdir(root, { recursive: true, withFileTypes: true });
  return found.filter((entry) => entry.isFile()).map((file) => join(file.parentPath, file.name));
}

const bytes = Buffer.from('bytes of a batch');
const digest = createHash('sha256').update(bytes).digest('hex');

describe('directory archive', () => {
  testArchive(async (t) => {
    const root = join(await folderFor(t), 'made', 'when needed');
    return {
      archive: createDirectoryArchive(root),
      names: () => filesIn(root),
      overwrite: (owner, name, changed) => writeFile(join(root, 'x', owner.slice(-2), owner, name), changed),
    };
  });

  test('makes directories and files that other users of the machine cannot read', async (t) => {
    const root = join(await folderFor(t), 'archive');
    await createDirectoryArchive(root).put('exp-a', digest, bytes);
    const [file] = await filesIn(root);
    const modes = [file!, join(file!, '..'), root].map(async (path) =>
      ((await stat(path)).mode & 0o777).toString(8),
    );
    assert.deepEqual(await Promise.all(modes), ['600', '700', '700']);
  });

  test('a failed write throws store-unavailable and leaves no file', async (t) => {
    const root = await folderFor(t);
    await writeFile(join(root, 'x'), 'a file where a directory must be');
    const archive = createDirectoryArchive(root);
    await assert.rejects(archive.put('exp-a', digest, bytes), coded('store-unavailable'));
    assert.deepEqual(await readdir(root), ['x']);
  });
});
