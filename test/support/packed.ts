import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { cp, mkdir, mkdtemp, readdir, readFile, rename, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);

/** Of the checkout, what no package is made from. */
const LEFT = new Set(['.git', '.venv', '.cache', 'node_modules', 'dist', 'helm', 'test']);

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
  await linkDependencies(to, await manifestIn('.'));
}

interface Manifest {
  dependencies: Record<string, string>;
  optionalDependencies?: Record<string, string>;
}

async function manifestIn(directory: string): Promise<Manifest> {
  return JSON.parse(await readFile(join(directory, 'package.json'), 'utf8')) as Manifest;
}

/** Links the checkout's copies of what a package depends on, and of what those depend on. */
async function linkDependencies(to: string, manifest: Manifest, seen = new Set<string>()): Promise<void> {
  for (const name of Object.keys({ ...manifest.dependencies, ...manifest.optionalDependencies })) {
    const path = resolve('node_modules', name);
    // An optional dependency of another platform is absent; a nested one comes with the package that it belongs to.
    if (seen.has(name) || !existsSync(path)) continue;
    seen.add(name);
    const at = join(to, 'node_modules', name);
    await mkdir(dirname(at), { recursive: true });
    await symlink(path, at);
    await linkDependencies(to, await manifestIn(path), seen);
  }
}

/** A package of `packages/`, installed in an empty folder with the dependencies that it states and no others. */
export interface InstalledPackage extends AsyncDisposable {
  directory: string;
  readme: string;
  manifest: Manifest;
  /** Runs the TypeScript example of its README there. */
  runExample(environment: Readonly<Record<string, string>>): Promise<{ stdout: string; stderr: string }>;
}

/** Makes the tarball of a package and installs it; see {@link InstalledPackage}. */
export async function installPackage(name: string): Promise<InstalledPackage> {
  const directory = await mkdtemp(join(tmpdir(), `${name}-`));
  const { stdout } = await run(process.execPath, ['scripts/package.ts', name, '--to', directory]);
  await run('tar', ['-xzf', stdout.trim(), '-C', directory]);
  const home = join(directory, 'node_modules', name);
  await mkdir(dirname(home), { recursive: true });
  await rename(join(directory, 'package'), home);
  const manifest = await manifestIn(home);
  await linkDependencies(directory, manifest);
  const readme = await readFile(join(home, 'README.md'), 'utf8');
  return {
    ...{ directory, readme, manifest },
    async runExample(environment) {
      const example = /```ts\n(?<code>[\s\S]*?)```/.exec(readme)?.groups?.code ?? '';
      const script = join(directory, 'example.ts');
      await writeFile(script, example);
      const env = { ...process.env, ...environment };
      return run(process.execPath, [script], { cwd: directory, env, timeout: 150_000 });
    },
    [Symbol.asyncDispose]: () => rm(directory, { recursive: true, force: true }),
  };
}
