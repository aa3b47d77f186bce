// Compiles the control plane into dist, with the files that it reads beside it, and each package into dist/node_modules/NAME
// in the form in which it is published: `npm publish ./dist/node_modules/NAME`. `--to DIRECTORY`: elsewhere than dist.
import { spawnSync } from 'node:child_process';
import {
  chmodSync,
  cpSync,
  globSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { parseArgs } from 'node:util';
import { makeSources } from './sources.mjs';

const { values } = parseArgs({ options: { to: { type: 'string', default: 'dist' } } });
const dist = values.to;

/** The parts of a package's manifest that matter here. */
interface Manifest {
  bin?: Record<string, string>;
  exports: Record<string, string>;
  devDependencies?: Record<string, string>;
}

function compile(to: string): void {
  // Only packages are published, with the declarations of their types.
  for (const project of ['tsconfig.build.json', 'packages/tsconfig.build.json']) {
    const args = ['node_modules/typescript/bin/tsc', '-p', project, '--outDir', to];
    const { status } = spawnSync(process.execPath, args, { stdio: 'inherit' });
    if (status !== 0) process.exit(status ?? 1);
  }
  // What the compiler does not emit: Lua, and generated JavaScript with its types.
  for (const file of globSync(['src/**/*.lua', '{src,packages/*/src}/**/gen/*.{js,d.ts}']))
    cpSync(file, join(to, file));
}

/** The manifest of a checkout names sources; that of a published package, what they are compiled to. */
function published({ devDependencies: _, ...manifest }: Manifest): object {
  const compiled = (file: string, extension: string): string =>
    file.replace(/^\.\/src\//, './dist/').replace(/\.ts$/, extension);
  const exported = Object.entries(manifest.exports).map(([name, file]) => [
    name,
    file.endsWith('.ts')
      ? { types: compiled(file, '.d.ts'), default: compiled(file, '.js') }
      : compiled(file, ''),
  ]);
  const bin = Object.entries(manifest.bin ?? {}).map(([name, file]) => [name, compiled(file, '.js')]);
  return {
    ...manifest,
    ...(bin.length > 0 && { bin: Object.fromEntries(bin) }),
    exports: Object.fromEntries(exported),
    files: ['dist'],
  };
}

/**
 * Copies the files of `inlined`, a package of this repository, that the files of `home` import, and lets them import the copies:
 * the package is then installed alone.
 */
function inline(inlined: string, compiled: string, home: string): void {
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
}

function buildPackage(name: string, compiled: string, names: readonly string[]): void {
  const from = join('packages', name);
  const home = join(dist, 'node_modules', name);
  const manifest = JSON.parse(readFileSync(join(from, 'package.json'), 'utf8')) as Manifest;
  mkdirSync(home, { recursive: true });
  cpSync(join(compiled, from, 'src'), join(home, 'dist'), { recursive: true });
  for (const other of names) if (manifest.devDependencies?.[other]) inline(other, compiled, home);
  writeFileSync(join(home, 'package.json'), `${JSON.stringify(published(manifest), null, 2)}\n`);
  for (const file of [join(from, 'README.md'), 'LICENSE']) cpSync(file, join(home, file.split('/').at(-1)!));
  for (const file of Object.values(manifest.bin ?? {}))
    chmodSync(join(home, file.replace('./src', 'dist').replace(/\.ts$/, '.js')), 0o755);
}

await makeSources();
rmSync(dist, { recursive: true, force: true });
mkdirSync('.cache', { recursive: true });
const compiled = mkdtempSync('.cache/build-');
process.on('exit', () => rmSync(compiled, { recursive: true, force: true }));
compile(compiled);
cpSync(join(compiled, 'src'), dist, { recursive: true });
const names = readdirSync(join(compiled, 'packages'));
for (const name of names) buildPackage(name, compiled, names);
cpSync('packages/echelon-dashboard/src/gen', join(dist, 'node_modules/echelon-dashboard/dist/gen'), {
  recursive: true,
  filter: (file) => !file.endsWith('.inputs'),
});
chmodSync(join(dist, 'cli/main.js'), 0o755);
