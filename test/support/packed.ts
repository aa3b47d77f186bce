import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { cp, mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { promisify } from 'node:util';
import type { Scope } from './store.ts';

const run = promisify(execFile);

/** What scripts/build.ts makes: a directory, removed when `scope` is over. */
export async function builtFor(scope: Scope): Promise<string> {
  const to = await mkdtemp(join(tmpdir(), 'echelon-dist-'));
  scope.after(() => rm(to, { recursive: true, force: true }));
  await run(process.execPath, ['scripts/build.ts', '--to', to]);
  return to;
}

/** Lays the files of the image `echelon` into `to`, as its Dockerfile does, with what {@link builtFor} has built. */
export async function layImage(built: string, to: string): Promise<void> {
  await cp(built, join(to, 'dist'), { recursive: true });
  const manifest = await manifestIn('.');
  await writeFile(join(to, 'package.json'), JSON.stringify(manifest));
  const dockerfile = await readFile('deploy/docker/Dockerfile', 'utf8');
  const production = dockerfile.slice(dockerfile.indexOf('AS production'));
  for (const [, from, place] of production.matchAll(/^COPY (LICENSE|proto|deploy.*) (\S+)$/gm))
    for (const file of from!.split(' ')) {
      const isFolder = place!.endsWith('/');
      await cp(file, join(to, isFolder ? join(place!, file.split('/').at(-1)!) : place!), {
        recursive: true,
      });
    }
  await linkDependencies(to, manifest);
}

interface Manifest {
  dependencies: Record<string, string>;
  optionalDependencies?: Record<string, string>;
  devDependencies?: Record<string, string>;
  scripts?: Record<string, string>;
  publishConfig?: object;
}

async function manifestIn(directory: string): Promise<Manifest> {
  return JSON.parse(await readFile(join(directory, 'package.json'), 'utf8')) as Manifest;
}

/** Links the checkout's copies of what a package depends on, and of what those depend on. This needs no network. */
async function linkDependencies(to: string, manifest: Manifest, seen = new Set<string>()): Promise<void> {
  for (const name of Object.keys({ ...manifest.dependencies, ...manifest.optionalDependencies })) {
    const path = resolve('node_modules', name);
    // An optional dependency of another platform is absent; a nested one comes with the package that it belongs to.
    if (seen.has(name) || !existsSync(path)) continue;
    seen.add(name);
    // The packages of this repository come with what was built.
    if (!existsSync(join('packages', name))) {
      const at = join(to, 'node_modules', name);
      await mkdir(dirname(at), { recursive: true });
      await symlink(path, at);
    }
    await linkDependencies(to, await manifestIn(path), seen);
  }
}

/** A package of `packages/`, installed in an empty folder with the dependencies that it states and no others. */
export interface InstalledPackage extends AsyncDisposable {
  directory: string;
  readme: string;
  manifest: Manifest;
  /** The files that `npm publish` would send; rejects if npm would refuse. */
  publishedFiles(): Promise<string[]>;
  /** Runs a TypeScript example of its README there. Default: the first. */
  runExample(
    environment: Readonly<Record<string, string>>,
    example?: number,
  ): Promise<{ stdout: string; stderr: string }>;
}

/** The blocks of code in this language of a Markdown text. */
export const codeOf = (markdown: string, language: string): string[] =>
  [...markdown.matchAll(/```(\w+)\n([\s\S]*?)```/g)].flatMap(([, of, code]) =>
    of === language ? [code!] : [],
  );

/** Makes the tarball of a package that {@link builtFor} has built, and installs it; see {@link InstalledPackage}. */
export async function installPackage(built: string, name: string): Promise<InstalledPackage> {
  const directory = await mkdtemp(join(tmpdir(), `${name}-`));
  const source = join(built, 'node_modules', name);
  const { stdout } = await run('npm', ['pack', source, '--json', '--loglevel=error'], { cwd: directory });
  const [packed] = JSON.parse(stdout) as [{ filename: string }];
  const home = join(directory, 'node_modules', name);
  await mkdir(home, { recursive: true });
  await run('tar', ['-xzf', join(directory, packed.filename), '-C', home, '--strip-components=1']);
  const manifest = await manifestIn(home);
  await linkDependencies(directory, manifest);
  const readme = await readFile(join(home, 'README.md'), 'utf8');
  return {
    directory,
    readme,
    manifest,
    async publishedFiles() {
      // npm asks the registry for earlier versions, and needs no answer.
      const offline = ['--registry=http://127.0.0.1:9', '--fetch-retries=0'];
      const flags = ['--dry-run', '--json', '--loglevel=error', ...offline];
      const answer = JSON.parse((await run('npm', ['publish', source, ...flags])).stdout);
      const { files } = (answer[name] ?? answer) as { files: { path: string }[] };
      return files.map(({ path }) => path);
    },
    async runExample(environment, example = 0) {
      const script = join(directory, 'example.ts');
      await writeFile(script, codeOf(readme, 'ts')[example] ?? '');
      const env = { ...process.env, ...environment };
      return run(process.execPath, [script], { cwd: directory, env, timeout: 150_000 });
    },
    [Symbol.asyncDispose]: () => rm(directory, { recursive: true, force: true }),
  };
}
