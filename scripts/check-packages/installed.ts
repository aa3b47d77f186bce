// Packs a package, and installs its tarball in an empty folder on a version of Node.
import { execFileSync } from 'node:child_process';
import { cpSync, mkdirSync, readdirSync, readFileSync, realpathSync, statSync, writeFileSync } from 'node:fs';
import { delimiter, dirname, join, resolve } from 'node:path';

/** A package and its tarball. */
export interface Packed {
  name: string;
  tarball: string;
}

const npm = realpathSync(execFileSync('sh', ['-c', 'command -v npm'], { encoding: 'utf8' }).trim());

/** The environment in which `node` is the program of this path. */
export const withNode = (node: string): NodeJS.ProcessEnv => {
  const { PATH = '' } = process.env;
  const others = PATH.split(delimiter).filter((folder) => !folder.includes('node_modules'));
  return { ...process.env, PATH: [dirname(node), ...others].join(delimiter) };
};

function run(node: string, args: readonly string[], cwd: string): string {
  return execFileSync(node, args, {
    cwd,
    env: withNode(node),
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'inherit'],
  });
}

const secondsSince = (started: number): string => ((Date.now() - started) / 1000).toFixed(1);
const kilobytes = (bytes: number): string => `${Math.round(bytes / 1000)} kB`;

/** What `npm publish` would send, in words. Throws if npm would refuse. */
export function dryRun(folder: string): string {
  const said = run(
    process.execPath,
    [npm, 'publish', folder, '--dry-run', '--json', '--loglevel=error'],
    folder,
  );
  const parsed = JSON.parse(said) as Record<string, unknown>;
  type Sent = { size: number; unpackedSize: number; entryCount: number };
  const { size, unpackedSize, entryCount } = ('size' in parsed ? parsed : Object.values(parsed)[0]) as Sent;
  return `${kilobytes(size)}, unpacked ${kilobytes(unpackedSize)} in ${entryCount} files`;
}

/** Makes the tarball in `to`. */
export function pack(folder: string, to: string): string {
  const said = run(process.execPath, [npm, 'pack', folder, '--json', '--loglevel=error'], to);
  const [{ filename }] = JSON.parse(said) as [{ filename: string }];
  return join(to, filename);
}

/** The program of a version of Node: this process's own, or the npm package `node` installed below `place`. */
export function nodeOf(version: number, place: string): string {
  if (process.version.startsWith(`v${version}.`)) return process.execPath;
  const home = join(place, `node-${version}`);
  mkdirSync(home);
  writeFileSync(join(home, 'package.json'), '{"private":true,"allowScripts":{"node":true}}');
  run(process.execPath, [npm, 'install', `node@${version}`, '--loglevel=error'], home);
  return join(home, 'node_modules/node/bin/node');
}

function filesIn(folder: string): string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name));
}

/** Installs the tarball in the empty folder `home`, without any script of a package. Throws if the package has one itself. */
export function install({ name, tarball }: Packed, node: string, home: string) {
  writeFileSync(join(home, 'package.json'), '{"private":true,"type":"module"}');
  const started = Date.now();
  run(node, [npm, 'install', tarball, '--ignore-scripts', '--loglevel=error'], home);
  const seconds = secondsSince(started);
  const files = filesIn(join(home, 'node_modules'));
  const { scripts } = JSON.parse(readFileSync(join(home, 'node_modules', name, 'package.json'), 'utf8'));
  if (scripts !== undefined) throw new Error(`${name} is published with scripts`);
  const bytes = files.reduce((sum, file) => sum + statSync(file).size, 0);
  const packages = files.filter((file) =>
    /node_modules\/(?:@[^/]+\/)?[^/@.][^/]*\/package\.json$/.test(file),
  ).length;
  return { seconds, megabytes: (bytes / 1e6).toFixed(1), packages };
}

/** Runs `npx echelon-verify FOLDER` on the tarball, in a folder without packages and with an empty cache; the seconds it took. */
export function npxFromTarball({ tarball }: Packed, node: string, place: string): string {
  const home = join(place, `npx-${process.hrtime.bigint()}`);
  cpSync(resolve('test/golden/dumps/trl/group'), join(home, 'outputs'), { recursive: true });
  const npx = join(dirname(npm), 'npx-cli.js');
  const started = Date.now();
  const call = ['--yes', '--cache', join(home, 'cache'), '--package', tarball, 'echelon-verify', 'outputs'];
  const said = run(node, [npx, ...call], home);
  if (!/3 of 3 batches ok/.test(said)) throw new Error(`npx echelon-verify said: ${said}`);
  return secondsSince(started);
}
