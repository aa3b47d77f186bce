// Brings a fresh machine to where everything runs: npm packages, Node 24, a Python environment with Ray, a Redis
// server. Plain JavaScript, because it is the one part that runs before the pinned Node is there (Node 20 will do).
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { aptInstall, hasApt } from './setup/apt.mjs';
import { output, root, say, step } from './setup/commands.mjs';
import { installPackages } from './setup/packages.mjs';
import { installPython, python } from './setup/python.mjs';
import { installRedis, pathWithRedis } from './setup/redis.mjs';

/** A Chromium for the tests in a browser. Without one those tests say that they are skipped, so nothing fails here. */
async function installBrowser() {
  const wanted = ['chromium-headless-shell', 'chromium', 'chromium-browser', 'google-chrome'];
  if (wanted.some((name) => output(name, ['--version'])) || !hasApt()) return;
  // The one without windows takes half of the processor time.
  const install = () => aptInstall('chromium-headless-shell').catch(() => aptInstall('chromium'));
  await step('installing Chromium with apt, for the tests in a browser', install).catch((error) =>
    say(`no Chromium, so the tests in a browser will be skipped: ${error.message}`),
  );
}

/**
 * Does what is still missing, with `tests` also for them, side by side; says nothing if everything is there. Returns the Node and
 * Python to use, and PATH with a Redis server. With `ownPython` no Python environment is made: Ray is that of another one.
 */
export async function setup({ tests = false, ownPython = false } = {}) {
  mkdirSync(join(root, '.cache'), { recursive: true });
  const environment = ownPython ? Promise.resolve('python3') : installPython({ tests }).then(() => python);
  const done = await Promise.allSettled([
    installPackages(),
    environment,
    installRedis(environment),
    tests ? installBrowser() : undefined,
  ]);
  const failed = done.find(({ status }) => status === 'rejected');
  if (failed) throw failed.reason;
  return { node: done[0].value, python, path: pathWithRedis() };
}
