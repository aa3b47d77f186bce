// Makes the form of a package in which it is published, from what the compiler made of its sources.
import { chmodSync, cpSync, globSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { BROWSER_ALIASES } from 'echelon-verify/browser/node/aliases';
import { build } from 'vite';

/** The parts of a package's manifest that matter here. */
interface Manifest {
  private?: boolean;
  bin?: Record<string, string>;
  exports: Record<string, string>;
  sideEffects?: string[] | boolean;
  dependencies?: Record<string, string>;
  devDependencies?: Record<string, string>;
}

/** Where the parts of a package are, and what the build says of all packages. */
export interface PackageBuild {
  name: string;
  /** The compiled sources of this repository. */
  compiled: string;
  /** The folder `node_modules` of the result. */
  to: string;
  /** All packages of this repository. */
  names: readonly string[];
  /** The repository that npm's provenance states, such as `https://example.org/owner/name`. */
  repository: string | undefined;
}

const manifestOf = (name: string): Manifest =>
  JSON.parse(readFileSync(join('packages', name, 'package.json'), 'utf8')) as Manifest;

const compiledName = (file: string, extension: string): string =>
  file.replace(/^\.\/src\//, './dist/').replace(/\.ts$/, extension);

/** The manifest of a checkout names sources; that of a published package, what they are compiled to and what `inlined` files need. */
function published(
  { devDependencies: _, ...manifest }: Manifest,
  { name, repository }: PackageBuild,
  inlined: Record<string, string>,
): object {
  const exported = Object.entries(manifest.exports).map(([path, file]) => [
    path,
    file.endsWith('.ts')
      ? { types: compiledName(file, '.d.ts'), default: compiledName(file, '.js') }
      : compiledName(file, ''),
  ]);
  const { bin = {}, sideEffects } = manifest;
  const programs = Object.entries(bin).map(([program, file]) => [program, compiledName(file, '.js')]);
  const dependencies = Object.entries({ ...manifest.dependencies, ...inlined }).sort();
  return {
    ...manifest,
    ...(dependencies.length > 0 && { dependencies: Object.fromEntries(dependencies) }),
    ...(programs.length > 0 && { bin: Object.fromEntries(programs) }),
    exports: Object.fromEntries(exported),
    ...(Array.isArray(sideEffects) && { sideEffects: sideEffects.map((file) => compiledName(file, '.js')) }),
    files: ['dist'],
    ...(repository && {
      repository: { type: 'git', url: `git+${repository}.git`, directory: `packages/${name}` },
    }),
    ...(!manifest.private && { publishConfig: { access: 'public', provenance: true } }),
  };
}

/**
 * Copies the files of `inlined`, a package of this repository, that the files of `home` import, and lets them import the copies:
 * the package is then installed alone. Returns the dependencies of the copies.
 */
function inline(inlined: string, compiled: string, home: string): Record<string, string> {
  const { dependencies = {} } = manifestOf(inlined);
  const needed: Record<string, string> = {};
  const specifier = new RegExp(`(['"])${inlined}/([^'"]+)\\1`, 'g');
  const copied = new Set<string>();
  const copy = (path: string): void => {
    if (copied.has(path)) return;
    copied.add(path);
    for (const extension of ['.js', '.d.ts'])
      cpSync(
        join(compiled, 'packages', inlined, 'src', path + extension),
        join(home, 'dist', inlined, path + extension),
      );
    const text = readFileSync(join(home, 'dist', inlined, `${path}.js`), 'utf8');
    for (const [, next] of text.matchAll(/from ['"](\.[^'"]+)\.js['"]/g)) copy(join(dirname(path), next!));
    for (const [name, version] of Object.entries(dependencies))
      if (new RegExp(`from ['"]${name}['"]`).test(text)) needed[name] = version;
  };
  for (const file of globSync(join(home, 'dist/**/*.{js,d.ts}'))) {
    const text = readFileSync(file, 'utf8');
    const changed = text.replace(specifier, (_, quote: string, path: string) => {
      copy(path);
      const to = relative(dirname(file), join(home, 'dist', inlined, `${path}.js`));
      return `${quote}${to.startsWith('.') ? to : `./${to}`}${quote}`;
    });
    if (changed !== text) writeFileSync(file, changed);
  }
  return needed;
}

/** Bundles the worker thread of `echelon-verify/browser`, in which browsers find no modules of Node. */
async function buildBrowserThread(from: string, home: string): Promise<void> {
  const folder = join(home, 'dist/browser');
  rmSync(join(folder, 'node'), { recursive: true });
  await build({
    configFile: false,
    publicDir: false,
    logLevel: 'warn',
    resolve: { alias: BROWSER_ALIASES },
    build: {
      outDir: folder,
      emptyOutDir: false,
      target: 'es2023',
      minify: true,
      license: { fileName: 'THIRD-PARTY.md' },
      reportCompressedSize: false,
      lib: {
        entry: join(from, 'src/browser/verifier-thread.ts'),
        formats: ['es'],
        fileName: 'verifier-thread',
      },
      rolldownOptions: { output: { codeSplitting: false } },
    },
  });
}

/** Lays the package into `to`/NAME. */
export async function buildPackage(options: PackageBuild): Promise<void> {
  const { name, compiled, to, names } = options;
  const from = join('packages', name);
  const home = join(to, name);
  const manifest = manifestOf(name);
  mkdirSync(home, { recursive: true });
  cpSync(join(compiled, from, 'src'), join(home, 'dist'), { recursive: true });
  const inlined = names.filter((other) => manifest.devDependencies?.[other]);
  const needed = Object.assign({}, ...inlined.map((other) => inline(other, compiled, home)));
  if (manifest.exports['./browser']) await buildBrowserThread(from, home);
  writeFileSync(
    join(home, 'package.json'),
    `${JSON.stringify(published(manifest, options, needed), null, 2)}\n`,
  );
  for (const file of [join(from, 'README.md'), 'LICENSE']) cpSync(file, join(home, file.split('/').at(-1)!));
  for (const file of Object.values(manifest.bin ?? {}))
    chmodSync(join(home, compiledName(file, '.js')), 0o755);
}
