import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { access, mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, test } from 'node:test';
import { CliError, EXIT } from 'command-kit/exit';
import { readSpec as read } from '../../../src/cli/folder-files.ts';

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

let remarks: string[] = [];
const readSpec = (file: string) => read(file, { remark: (text) => void remarks.push(text) });

/** The files of the folder `mine` as a spec sends them. */
async function sent(): Promise<unknown> {
  remarks = [];
  await put({ 'spec.yaml': 'name: x\nfiles: mine\n' });
  return ((await readSpec(join(directory, 'spec.yaml'))) as { files: unknown }).files;
}

/** Puts files into the folder `mine`. */
const fill = (files: Record<string, string | Buffer>) =>
  put(Object.fromEntries(Object.entries(files).map(([name, text]) => [`mine/${name}`, text])));

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

test('the rules of .echelonignore replace those of .gitignore', async () => {
  await fill({
    '.gitignore': 'train.py\n',
    '.echelonignore': '# data\n*.bin\nout/\n/top.txt\nlib/x.py\n!lib/keep.bin\n',
    '.git/HEAD': 'x',
    '__pycache__/a.pyc': Buffer.of(0),
    'out/log': 'x',
    'lib/out/log': 'x',
    'lib/x.py': 'x',
    'lib/top.txt': 'kept',
    'lib/w.bin': Buffer.of(0),
    'lib/keep.bin': 'kept',
    'top.txt': 'x',
    'train.py': 'kept',
  });
  assert.deepEqual(await sent(), { 'lib/keep.bin': 'kept', 'lib/top.txt': 'kept', 'train.py': 'kept' });
  assert.match(
    remarks[0]!,
    /^Not sent: lib\/out\/, lib\/w\.bin, lib\/x\.py, out\/, top\.txt \(ignored by rules\)\./,
  );
});

const WITH_RULES = {
  '.gitignore': '.*.log\n/.my-secrets-dir/\nout\n!.seen.log\n',
  '.hidden.log': 'x',
  '.seen.log': 'kept',
  '.my-secrets-dir/a': 'x',
  'lib/.gitignore': 'made.py\n',
  'lib/made.py': 'x',
  'lib/out/a': 'x',
  'made.py': 'kept',
};

test('hidden files and nested folders follow .gitignore, with git and without', async () => {
  await fill(WITH_RULES);
  const kept = { '.seen.log': 'kept', 'made.py': 'kept' };
  assert.deepEqual(await sent(), kept, 'outside of a work tree');
  execFileSync('git', ['init', '--quiet', directory]);
  assert.deepEqual(await sent(), kept, 'in a work tree');
  assert.match(remarks[0]!, /\.hidden\.log/);
});

test('a work tree sends tracked files, and runs no program that its settings name', async () => {
  await fill({ 'a.py': 'tracked', 'gone.py': 'x', '.gitignore': 'a.py' });
  const git = (...args: string[]) => execFileSync('git', args, { cwd: join(directory, 'mine') });
  git('init', '--quiet');
  git('add', '--force', 'a.py', 'gone.py');
  await rm(join(directory, 'mine/gone.py'));
  git('config', 'core.fsmonitor', `touch ${join(directory, 'ran')}; false`);
  assert.deepEqual(await sent(), { 'a.py': 'tracked' });
  await assert.rejects(access(join(directory, 'ran')));
});

test('files that look like secrets are omitted and named, unless .echelonignore includes them', async () => {
  const secrets = {
    '.env': 'x',
    '.env.local': 'x',
    id_ed25519: 'x',
    'lib/tls.key': 'x',
    '.aws/credentials': 'x',
  };
  await fill({ ...secrets, 'tokenizer.json': 'kept', 'monkey.py': 'kept', '.env.sample': 'x' });
  const kept = { 'monkey.py': 'kept', 'tokenizer.json': 'kept' };
  assert.deepEqual(await sent(), kept);
  assert.match(
    remarks[0]!,
    /^Not sent: \.aws\/credentials, \.env, .* and 1 more \(may hold secrets\)\. .*\.echelonignore/,
  );
  await fill({ '.echelonignore': '!.env.sample\n' });
  assert.deepEqual(await sent(), { '.env.sample': 'x', ...kept });
});

test('a folder that is missing, without files, with a link, a file that is no text, or too many bytes is refused', async () => {
  await assert.rejects(sent(), refused(/Cannot read the folder .*mine: ENOENT/));
  await fill({ '.env': 'x' });
  await assert.rejects(sent(), refused(/mine has no file to send\. Not sent: \.env/));
  await fill({ 'a.bin': Buffer.of(0xff) });
  await assert.rejects(sent(), refused(/a\.bin is not a text\. List it in \.echelonignore/));
  await fill({ '.echelonignore': 'a.bin', 'b.txt': 'x'.repeat(131_073) });
  await assert.rejects(sent(), refused(/more than 200 files or 128 KiB/));
  await fill({ '.echelonignore': '*.bin\nb.txt' });
  await symlink('/etc/passwd', join(directory, 'mine/link'));
  await assert.rejects(sent(), refused(/link is no regular file/));
});
