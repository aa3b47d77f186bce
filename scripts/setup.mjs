// Brings a fresh machine to where everything runs: npm packages, Node 24, a Python environment with Ray, a Redis
// server. Plain JavaScript, because it is the one part that runs before the pinned Node is there (Node 20 will do).
import { execFileSync, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { staleSources } from './sources.mjs';

export const root = fileURLToPath(new URL('..', import.meta.url)).replace(/\/$/, '');
const venv = join(root, '.venv');
const requirements = join(root, 'deploy/ray-worker/requirements.lock');
const testRequirements = join(root, 'test/requirements.lock');
const say = (text) => process.stderr.write(`setup: ${text}\n`);

/** A set-up step that failed: the message says what to do, and needs no stack. */
export class SetupError extends Error {}

function run(command, args, options = {}) {
  const { status, error } = spawnSync(command, args, { cwd: root, stdio: ['ignore', 2, 2], ...options });
  if (error) throw new SetupError(`could not run ${command}: ${error.message}`);
  if (status !== 0) throw new SetupError(`\`${[command, ...args].join(' ')}\` ended with ${status}`);
}

function output(command, args) {
  try {
    return execFileSync(command, args, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }).trim();
  } catch {
    return '';
  }
}

const digest = (...parts) => createHash('sha256').update(parts.join('\0')).digest('hex');
const stampedWith = (file, value) => existsSync(file) && readFileSync(file, 'utf8') === value;
const isRoot = () => process.getuid?.() === 0;

function installPackages() {
  const stamp = join(root, 'node_modules/.echelon-setup');
  const wanted = digest(readFileSync(join(root, 'package-lock.json'), 'utf8'));
  if (stampedWith(stamp, wanted)) return;
  say('installing the npm packages');
  run('npm', ['ci', '--no-audit', '--no-fund', '--loglevel=error']);
  writeFileSync(stamp, wanted);
}

/** Path of a Node of version 24 or newer; the pinned one if it is installed. */
export function findNode() {
  const pinned = join(root, 'node_modules/.bin/node');
  const major = (path) => Number(/^v(\d+)/.exec(output(path, ['--version']))?.[1] ?? 0);
  for (const path of [pinned, process.execPath, 'node']) if (major(path) >= 24) return path;
  throw new SetupError(
    `Node 24 is missing: the npm package \`node\` is installed, but its install script did not run, so its program did
       not arrive. npm blocks install scripts where \`ignore-scripts\` is set or the package is not approved. Do one of:
         npm rebuild node --ignore-scripts=false --foreground-scripts
         install Node 24 or newer yourself, so that \`node --version\` says v24 or more
       and run the command again.`,
  );
}

function findPython() {
  for (const name of ['python3', 'python3.13', 'python3.12', 'python3.11']) {
    if (
      output(name, [
        '-c',
        'import sys; print(sys.version_info >= (3, 11) and sys.version_info < (3, 14))',
      ]) === 'True'
    )
      return name;
  }
  throw new SetupError(
    'Python 3.11 to 3.13 is missing; on Debian: apt-get install python3 python3-venv python3-pip',
  );
}

function installPython() {
  const stamp = join(venv, '.echelon-setup');
  const wanted = digest(readFileSync(requirements, 'utf8'));
  if (stampedWith(stamp, wanted)) return;
  const python = findPython();
  if (!existsSync(join(venv, 'bin/pip'))) {
    say(`making a Python environment (${output(python, ['--version'])})`);
    if (spawnSync(python, ['-m', 'venv', venv], { stdio: 'ignore' }).status !== 0) {
      if (!isRoot())
        throw new SetupError(
          'Python cannot make environments here; on Debian: sudo apt-get install python3-venv',
        );
      aptInstall('python3-venv');
      run(python, ['-m', 'venv', '--clear', venv]);
    }
  }
  say('installing Ray and what the ray-worker needs');
  pipInstall(requirements);
  writeFileSync(stamp, wanted);
}

function installTestTools() {
  const stamp = join(venv, '.echelon-tests');
  const wanted = digest(readFileSync(testRequirements, 'utf8'));
  if (stampedWith(stamp, wanted)) return;
  say('installing what the tests need');
  pipInstall(testRequirements);
  writeFileSync(stamp, wanted);
}

function pipInstall(file) {
  run(join(venv, 'bin/pip'), [
    'install',
    '--quiet',
    '--disable-pip-version-check',
    '--require-hashes',
    '-r',
    file,
  ]);
}

function aptInstall(name) {
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' };
  run('apt-get', ['update', '-qq'], { env });
  run('apt-get', ['install', '-qq', '-y', '--no-install-recommends', name], { env });
}

/** Name of the Redis-compatible server on PATH, or an empty string. */
export function findRedis() {
  return ['redis-server', 'valkey-server'].find((name) => output(name, ['--version'])) ?? '';
}

function installRedis() {
  if (findRedis()) return;
  const line = 'apt-get install redis-server';
  if (!isRoot() || !output('apt-get', ['--version'])) {
    throw new SetupError(`no redis-server or valkey-server on PATH; install one, on Debian: sudo ${line}`);
  }
  say('installing a Redis server with apt');
  // The package would start a server of its own on the default port; nothing here uses that one.
  const policy = '/usr/sbin/policy-rc.d';
  const ours = !existsSync(policy);
  if (ours) writeFileSync(policy, '#!/bin/sh\nexit 101\n', { mode: 0o755 });
  try {
    aptInstall('redis-server');
  } finally {
    if (ours) spawnSync('rm', ['-f', policy]);
  }
}

/** A Chromium for the tests in a browser. Without one those tests say that they are skipped, so nothing fails here. */
function installBrowser() {
  const wanted = ['chromium', 'chromium-browser', 'google-chrome'];
  if (wanted.some((name) => output(name, ['--version']))) return;
  if (!isRoot() || !output('apt-get', ['--version'])) return;
  say('installing Chromium with apt, for the tests in a browser');
  try {
    aptInstall('chromium');
  } catch (error) {
    say(`no Chromium, so the tests in a browser will be skipped: ${error.message}`);
  }
}

/** Makes the sources that are generated: after a change of their inputs, and in a fresh checkout. */
function makeSources(node) {
  const stale = staleSources();
  if (stale.length === 0) return;
  say(`generating ${stale.join(', ')}`);
  run(node, [join(root, 'scripts/sources.mjs')]);
}

/** Does what is still missing, with `tests` also for them; says nothing where all is there. */
export function setup({ tests = false } = {}) {
  mkdirSync(join(root, '.cache'), { recursive: true });
  installPackages();
  const node = findNode();
  makeSources(node);
  installPython();
  if (tests) installTestTools();
  if (tests) installBrowser();
  installRedis();
  return { node, python: join(venv, 'bin/python') };
}
