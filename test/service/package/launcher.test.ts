import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { chmod, copyFile, cp, mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';

const ROOT = join(import.meta.dirname, '../../..');
const LAUNCHER = join(ROOT, 'bin/echelon');
const folder = await mkdtemp(join(tmpdir(), 'echelon-launcher-'));
after(() => rm(folder, { recursive: true, force: true }));
await cp(join(ROOT, 'test/golden/hgpo.json'), join(folder, 'batches.json'));

/** A directory with a program `node` that says that it is this version. */
async function oldNode(version: string): Promise<string> {
  const place = await mkdtemp(join(folder, 'node-'));
  await writeFile(join(place, 'node'), `#!/bin/sh\necho ${version}\n`);
  await chmod(join(place, 'node'), 0o755);
  return place;
}

function run(command: string, args: string[], path: string, environment: object = {}) {
  const env = { HOME: folder, PATH: `${path}:/usr/bin:/bin`, ...environment };
  return spawnSync(command, args, { cwd: folder, env, encoding: 'utf8' });
}

test('the launcher runs on the Node of the checkout, whatever is on PATH, and reads files of the caller', async () => {
  const old = await oldNode('v20.1.0');
  const version = run(LAUNCHER, ['--version'], old);
  assert.match(version.stdout, /^\d+\.\d+\.\d+\n$/, version.stderr);
  const link = join(folder, 'ech');
  await symlink(LAUNCHER, link);
  const verified = run(link, ['verify', 'batches.json'], old);
  assert.equal(verified.status, 0, verified.stderr);
});

test('the launcher says in a sentence that no Node is new enough, and that packages or generated sources are missing', async () => {
  const root = await mkdtemp(join(folder, 'checkout-'));
  await mkdir(join(root, 'bin'));
  await copyFile(LAUNCHER, join(root, 'bin/echelon'));
  const missing = run(join(root, 'bin/echelon'), ['--version'], await oldNode('v30.0.0'));
  assert.equal(missing.status, 1);
  assert.match(missing.stderr, /^echelon: its packages are missing; run: \(cd '.*' && npm run setup\)\n$/);
  await mkdir(join(root, 'node_modules/commander'), { recursive: true });
  const old = run(join(root, 'bin/echelon'), ['--version'], await oldNode('v20.1.0'));
  assert.equal(old.status, 1);
  assert.match(
    old.stderr,
    /^echelon: it needs Node 24 or newer, and `node --version` says v20\.1\.0; run: .*\n$/,
  );
  const unmade = run(join(root, 'bin/echelon'), ['--version'], await oldNode('v30.0.0'));
  assert.equal(unmade.status, 1);
  assert.match(
    unmade.stderr,
    /^echelon: its generated sources are missing; run: \(cd '.*' && npm run setup\)\n$/,
  );
});

test('the launcher puts the Redis server of the set-up before PATH', async () => {
  const root = await mkdtemp(join(folder, 'checkout-'));
  for (const part of ['bin', 'node_modules/commander', 'node_modules/.bin', 'src/rpc/gen', '.cache/bin'])
    await mkdir(join(root, part), { recursive: true });
  await copyFile(LAUNCHER, join(root, 'bin/echelon'));
  const node = '#!/bin/sh\ncase $1 in --version) echo v24.0.0 ;; *) redis-server ;; esac\n';
  await writeFile(join(root, 'node_modules/.bin/node'), node);
  await writeFile(join(root, '.cache/bin/redis-server'), '#!/bin/sh\necho of the set-up\n');
  for (const file of ['node_modules/.bin/node', '.cache/bin/redis-server'])
    await chmod(join(root, file), 0o755);
  assert.equal(run(join(root, 'bin/echelon'), ['up'], folder).stdout, 'of the set-up\n');
});

test('npm run echelon reads files from where npm was called', () => {
  const { status, stderr } = spawnSync(
    process.execPath,
    [join(ROOT, 'scripts/run.mjs'), 'echelon', 'verify', 'batches.json'],
    { cwd: ROOT, env: { ...process.env, INIT_CWD: folder }, encoding: 'utf8' },
  );
  assert.equal(status, 0, stderr);
});
