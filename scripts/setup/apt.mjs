// Packages of a Debian-like machine, for a user who may install them. Plain JavaScript, see ../setup.mjs.
import { existsSync, rmSync, writeFileSync } from 'node:fs';
import { output, run } from './commands.mjs';

/** True if this user can install packages with apt. */
export const hasApt = () => process.getuid?.() === 0 && output('apt-get', ['--version']) !== '';

let last = Promise.resolve();

/** Installs a package after those that were asked for before: apt runs once at a time. */
export function aptInstall(name) {
  const done = last.then(() => installWithoutServices(name));
  last = done.catch(() => {});
  return done;
}

/** A package may start a server of its own on the default port; nothing here uses it. */
async function installWithoutServices(name) {
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' };
  const policy = '/usr/sbin/policy-rc.d';
  const isOurs = !existsSync(policy);
  if (isOurs) writeFileSync(policy, '#!/bin/sh\nexit 101\n', { mode: 0o755 });
  try {
    await run('apt-get', ['update', '-qq'], { env });
    await run('apt-get', ['install', '-qq', '-y', '--no-install-recommends', name], { env });
  } finally {
    if (isOurs) rmSync(policy, { force: true });
  }
}
