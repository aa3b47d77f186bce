// Installs the npm packages from their tarballs in empty folders on Node 20, 22 and 24, and runs the commands and examples of their
// READMEs there. Prints sizes and times. The packages of npm come from the configured registry; everything runs on loopback only.
import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { dryRun, install, nodeOf, npxFromTarball, type Packed, pack } from './check-packages/installed.ts';
import { isolation } from './isolation.mjs';

const NAMES = ['echelon-verify', 'ray-client-ts', 'echelon-client'];
const VERSIONS = [20, 22, 24];

const place = mkdtempSync(join(tmpdir(), 'check-packages-'));
process.on('exit', () => rmSync(place, { recursive: true, force: true }));

const built = join(place, 'dist');
if (spawnSync(process.execPath, ['scripts/build.ts', '--to', built], { stdio: 'inherit' }).status !== 0)
  process.exit(1);
const packed: Packed[] = [];
for (const name of NAMES) {
  const folder = join(built, 'node_modules', name);
  console.log(`${name}: npm publish would send ${dryRun(folder)}`);
  packed.push({ name, tarball: pack(folder, place) });
}

const homes: { name: string; node: string; home: string }[] = [];
for (const version of VERSIONS) {
  const node = nodeOf(version, place);
  for (const one of packed) {
    const home = join(place, `${one.name}-${version}`);
    mkdirSync(home);
    const { seconds, megabytes, packages } = install(one, node, home);
    console.log(
      `${one.name} on Node ${version}: installed in ${seconds} s, ${megabytes} MB with ${packages} packages`,
    );
    homes.push({ name: one.name, node, home });
  }
  const verify = packed.find(({ name }) => name === 'echelon-verify')!;
  console.log(
    `npx echelon-verify on Node ${version}, from nothing: ${npxFromTarball(verify, node, place)} s`,
  );
}

const list = join(place, 'homes.json');
writeFileSync(list, JSON.stringify(homes));
const python = resolve(process.env.ECHELON_PYTHON ?? '.venv/bin/python');
const [program, ...args] = [
  ...(isolation(python) ?? []),
  process.execPath,
  'scripts/check-packages/run-readmes.ts',
  list,
];
const { status } = spawnSync(program!, args, {
  stdio: 'inherit',
  env: { ...process.env, ECHELON_ISOLATED: '1' },
});
process.exitCode = status ?? 1;
