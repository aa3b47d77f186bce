import assert from 'node:assert/strict';
import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, test } from 'node:test';
import { CliError, EXIT } from 'echelon-verify/cli/exit';
import { filesOf, readSpec } from '../../../src/cli/folder-files.ts';

let directory: string;
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'echelon-folder-'));
});
afterEach(() => rm(directory, { recursive: true }));

async function put(files: Record<string, string | Buffer>): Promise<void> {
  for (const [name, content] of Object.entries(files)) {
    await mkdir(dirname(join(directory, name)), { recursive: true });
    await writeFile(join(directory, name), content);
  }
}

const refused = (pattern: RegExp) => (error: unknown) =>
  error instanceof CliError && error.exitCode === EXIT.usage && pattern.test(error.message);

test('the files of a folder replace its path in a spec and in the spec of a sweep, relative to the file', async () => {
  await put({ 'mine/train.py': 'print(1)', 'mine/lib/a.py': '', 'spec.yaml': 'name: x\nfiles: mine\n' });
  await put({ 'sweep.yaml': 'name: x\nspec: { files: ./mine }\n' });
  const files = { 'lib/a.py': '', 'train.py': 'print(1)' };
  assert.deepEqual(await readSpec(join(directory, 'spec.yaml')), { name: 'x', files });
  assert.deepEqual(await readSpec(join(directory, 'sweep.yaml')), { name: 'x', spec: { files } });
});

test('a folder outside that of the spec is refused, by any path and through a link', async () => {
  await put({ 'secret/id': 'x', 'specs/mine/a.py': '', 'specs-2/b.py': '' });
  await symlink(join(directory, 'secret'), join(directory, 'specs/link'));
  await symlink(join(directory, 'specs/mine'), join(directory, 'specs/within'));
  const read = async (files: string) => {
    await put({ 'specs/spec.json': JSON.stringify({ name: 'x', files }) });
    return await readSpec(join(directory, 'specs/spec.json'));
  };
  for (const files of [
    '../secret',
    '..',
    'mine/../../secret',
    join(directory, 'secret'),
    'link',
    '../specs-2',
    '/',
  ])
    await assert.rejects(read(files), refused(/is outside the folder of the spec/), files);
  await put({ 'specs/sweep.yaml': 'name: x\nspec: { files: ../secret }\n' });
  await assert.rejects(readSpec(join(directory, 'specs/sweep.yaml')), refused(/is outside the folder/));
  for (const files of ['mine', './mine/', '../specs/mine', join(directory, 'specs/mine'), 'within'])
    assert.deepEqual(await read(files), { name: 'x', files: { 'a.py': '' } }, files);
});

test('a spec that holds its files or has none is read as it is', async () => {
  await put({ 'spec.yaml': 'name: x\nfiles: { a: b }\n', 'other.yaml': '[1]' });
  assert.deepEqual(await readSpec(join(directory, 'spec.yaml')), { name: 'x', files: { a: 'b' } });
  assert.deepEqual(await readSpec(join(directory, 'other.yaml')), [1]);
});

test('ignored names, paths and folders are not read; .echelonignore replaces .gitignore', async () => {
  await put({
    '.gitignore': 'train.py\n',
    '.echelonignore': '# data\n*.bin\nout/\n/top.txt\nlib/x.py\n',
    '.git/HEAD': 'x',
    '__pycache__/a.pyc': Buffer.of(0),
    'out/log': 'x',
    'lib/out/log': 'x',
    'lib/x.py': 'x',
    'lib/top.txt': 'kept',
    'lib/w.bin': Buffer.of(0),
    'top.txt': 'x',
    'train.py': 'kept',
  });
  assert.deepEqual(await filesOf(directory), { 'lib/top.txt': 'kept', 'train.py': 'kept' });
});

test('a folder that is missing, a link, a file that is no text, and too many bytes are refused with the remedy', async () => {
  await assert.rejects(filesOf(join(directory, 'none')), refused(/Cannot read the folder .*none: ENOENT/));
  await put({ 'a.bin': Buffer.of(0xff) });
  await assert.rejects(filesOf(directory), refused(/a\.bin is not a text\. List it in \.echelonignore/));
  await put({ '.echelonignore': 'a.bin', 'b.txt': 'x'.repeat(131_073) });
  await assert.rejects(filesOf(directory), refused(/more than 200 files or 128 KiB/));
  await put({ '.echelonignore': '*.bin\nb.txt' });
  await symlink('/etc/passwd', join(directory, 'link'));
  await assert.rejects(filesOf(directory), refused(/link is no regular file/));
  await put({ '.echelonignore': '!a' });
  await assert.rejects(filesOf(directory), refused(/begins with ! is not supported/));
});
