// Compiles the control plane into dist, with the files that it reads beside it, and each package into dist/node_modules/NAME
// in the form in which it is published: `npm publish ./dist/node_modules/NAME`. `--to DIRECTORY`: elsewhere than dist.
// `--repository URL`: the address of the source, which npm's provenance states.
import { spawnSync } from 'node:child_process';
import { chmodSync, cpSync, globSync, mkdirSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { buildPackage } from './build/package.ts';
import { makeSources } from './sources.mjs';

const { values } = parseArgs({
  options: { to: { type: 'string', default: 'dist' }, repository: { type: 'string' } },
});
const { to: dist, repository } = values;

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

await makeSources();
rmSync(dist, { recursive: true, force: true });
mkdirSync('.cache', { recursive: true });
const compiled = mkdtempSync('.cache/build-');
process.on('exit', () => rmSync(compiled, { recursive: true, force: true }));
compile(compiled);
cpSync(join(compiled, 'src'), dist, { recursive: true });
const names = readdirSync(join(compiled, 'packages'));
const to = join(dist, 'node_modules');
for (const name of names) await buildPackage({ name, compiled, to, names, repository });
cpSync('packages/echelon-dashboard/src/gen', join(to, 'echelon-dashboard/dist/gen'), {
  recursive: true,
  filter: (file) => !file.endsWith('.inputs'),
});
chmodSync(join(dist, 'cli/main.js'), 0o755);
