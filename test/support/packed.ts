import { execFile } from 'node:child_process';
import { cp, mkdir, readdir, realpath, rename, rm, symlink } from 'node:fs/promises';
import { dirname, join, relative, resolve } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);

/** Of the checkout, what no package is made from. */
const LEFT = new Set(['.git', '.venv', '.cache', 'node_modules', 'dist', 'docs', 'helm', 'test']);

/**
 * The package as `npm pack` makes it, unpacked to `to`; returns the paths in it. It is made from a copy: in the checkout
 * another test may build the same `dist` at the same time. `scratch` is a directory for the copy.
 */
export async function unpackPackage(scratch: string, to: string): Promise<string[]> {
  const copy = join(scratch, 'checkout');
  for (const name of await readdir('.'))
    if (!LEFT.has(name)) await cp(name, join(copy, name), { recursive: true });
  // Set up already.
  for (const name of ['node_modules', '.venv']) await symlink(resolve(name), join(copy, name));
  const { stdout } = await run('npm', ['pack', '--json', '--loglevel=error'], { cwd: copy });
  const [packed] = JSON.parse(stdout.slice(stdout.indexOf('['))) as {
    filename: string;
    files: { path: string }[];
  }[];
  await run('tar', ['-xzf', join(copy, packed!.filename), '-C', scratch]);
  await mkdir(dirname(to), { recursive: true });
  await rename(join(scratch, 'package'), to);
  await rm(copy, { recursive: true });
  return packed!.files.map(({ path }) => path);
}

/** Lays what `npm ci --omit=dev` would install into `to`/node_modules, from the checkout: this needs no network. */
export async function linkProductionDependencies(to: string): Promise<void> {
  const listed = await run('npm', ['ls', '--omit=dev', '--all', '--parseable', '--loglevel=silent']).catch(
    (error: { stdout: string }) => error,
  );
  const installed = await realpath('node_modules');
  for (const path of listed.stdout.split('\n').filter(Boolean).slice(1)) {
    const name = relative(installed, path);
    if (name.includes('node_modules')) continue; // comes with the one that it belongs to
    const at = join(to, 'node_modules', name);
    await mkdir(dirname(at), { recursive: true });
    await symlink(path, at);
  }
}
