// Makes the files of a release in a new directory: the source with the pages in docs/gen, the npm packages, the wheels with an index, the chart,
// the notes, and FILE… as they are, with SHA256SUMS and its signature by an SSH key. The page docs/contributing/release.md says what else belongs to a release.

import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  copyFileSync,
  existsSync,
  globSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { pack } from './check-packages/installed.ts';
import { writeForm } from './release/form.ts';
import { problemsOf, sectionOf } from './release/problems.ts';

const USAGE = `usage: npm run release -- --to DIRECTORY --key KEY [options] [FILE…]
  --to DIRECTORY  a new directory for the files
  --key KEY       the SSH key that signs; its public key must be in the signers' file
  --signers FILE  the signers' file. Default: docs/contributing/release-signers
  --form FORM     only rewrite README, action and texts to the form "published" or "clone"
  --draft         try it: do not ask for the tag, the changelog and a clean tree
  FILE…           more files of the release`;

const PACKAGES = ['echelon-verify', 'ray-client-ts', 'echelon-client'];
const SUMS = 'SHA256SUMS';
/** Who signs, and what for: a signature of the same key for another purpose does not pass. */
const IDENTITY = 'release';
const NAMESPACE = 'echelon-release';

class ReleaseError extends Error {}

/** What the program writes; throws ReleaseError if it fails. */
function run(program: string, args: readonly string[], input?: string): string {
  const { status, stdout, stderr, error } = spawnSync(program, args, { encoding: 'utf8', input });
  if (status === 0) return stdout;
  throw new ReleaseError(`${program} ${args[0]}: ${error?.message ?? stderr.trim()}`);
}

function makeFiles(to: string, version: string, others: readonly string[]): void {
  const name = `echelon-${version}`;
  run(process.execPath, ['scripts/generate/pages.ts']);
  const pages = globSync('docs/gen/*').sort();
  const archive = [
    'archive',
    '--format=tar.gz',
    `--output=${join(to, `${name}.tar.gz`)}`,
    ...[`--prefix=${name}/docs/gen/`, ...pages.map((page) => `--add-file=${page}`)],
    `--prefix=${name}/`, // of what follows: the commit
  ];
  // Without the time of the call, so that anyone makes the same file of the same commit.
  run('git', ['-c', 'tar.tar.gz.command=gzip -9n', ...archive, 'HEAD']);
  const built = mkdtempSync(join(tmpdir(), 'release-'));
  try {
    run(process.execPath, ['scripts/build.ts', '--to', built]);
    // In a folder of their own: npm may write more than the tarball.
    const packed = PACKAGES.map((one) => pack(join(built, 'node_modules', one), built));
    for (const file of packed) copyFileSync(file, join(to, basename(file)));
  } finally {
    rmSync(built, { recursive: true, force: true });
  }
  makeWheels(to);
  // A chart is the archive of its folder.
  run('tar', ['-czf', join(to, `echelon-chart-${version}.tgz`), '-C', 'helm', 'echelon']);
  writeFileSync(join(to, 'NOTES.md'), notesOf(version));
  for (const file of others) copyFileSync(file, join(to, basename(file)));
  makeIndex(to);
}

const PYTHON_PACKAGES = ['deploy/python', 'deploy/capture'];

/** The wheels, by the pip of ECHELON_PYTHON. Default: python3. */
function makeWheels(to: string): void {
  const python = process.env.ECHELON_PYTHON ?? 'python3';
  const sources = PYTHON_PACKAGES.map((folder) => resolve(folder));
  run(python, ['-m', 'pip', 'wheel', '--quiet', '--no-deps', '--wheel-dir', to, ...sources]);
}

/** An index of the wheels, as pip and uv read it: `uvx --index file://DIR/simple echelon-verify`. */
function makeIndex(to: string): void {
  for (const wheel of readdirSync(to).filter((name) => name.endsWith('.whl'))) {
    const folder = join(to, 'simple', wheel.split('-')[0]!.replaceAll('_', '-'));
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, 'index.html'), `<!doctype html>\n<a href="../../${wheel}">${wheel}</a>\n`);
  }
}

/** One page: what is in the release, how to use it from its folder, and the section of the changelog. */
function notesOf(version: string): string {
  return `# Echelon ${version}

In DIR, the folder of these files:

\`\`\`sh
uvx --index file://DIR/simple echelon-verify         # in the folder of a run
pip install --extra-index-url file://DIR/simple echelon-verify
npx --package DIR/echelon-verify-${version}.tgz echelon-verify
helm install echelon DIR/echelon-chart-${version}.tgz
tar -xzf DIR/echelon-${version}.tar.gz && docker build -f echelon-${version}/deploy/docker/Dockerfile echelon-${version}
\`\`\`

${sectionOf(readFileSync('CHANGELOG.md', 'utf8'), version)}
`;
}

function sign(to: string, { key, signers }: { key: string; signers: string }): void {
  const names = readdirSync(to, { withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map(({ name }) => name)
    .sort();
  const digest = (name: string) =>
    createHash('sha256')
      .update(readFileSync(join(to, name)))
      .digest('hex');
  const sums = names.map((name) => `${digest(name)}  ${name}\n`).join('');
  const path = join(to, SUMS);
  writeFileSync(path, sums);
  run('ssh-keygen', ['-Y', 'sign', '-q', '-f', key, '-n', NAMESPACE, path]);
  const verify = ['-Y', 'verify', '-f', signers, '-I', IDENTITY, '-n', NAMESPACE, '-s', `${path}.sig`];
  try {
    run('ssh-keygen', verify, sums);
  } catch {
    throw new ReleaseError(
      `users could not verify this release: the key ${key} is not in ${signers}. Add it there first.`,
    );
  }
}

function main(): void {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: {
      to: { type: 'string' },
      key: { type: 'string' },
      signers: { type: 'string', default: 'docs/contributing/release-signers' },
      form: { type: 'string' },
      draft: { type: 'boolean', default: false },
      help: { type: 'boolean', short: 'h', default: false },
    },
  });
  if (values.help) {
    console.log(USAGE);
    return;
  }
  const { key, signers, form } = values;
  if (form === 'published' || form === 'clone') {
    writeForm(form);
    return;
  }
  if (form !== undefined) throw new ReleaseError(USAGE);
  if (values.to === undefined || key === undefined) throw new ReleaseError(USAGE);
  const to = resolve(values.to);
  if (existsSync(to)) throw new ReleaseError(`${to} exists. Name a new directory.`);
  const problems = values.draft ? [] : problemsOf((args) => run('git', args));
  if (problems.length > 0) throw new ReleaseError(problems.join('\n'));
  const { version } = JSON.parse(readFileSync('package.json', 'utf8')) as { version: string };
  mkdirSync(to, { recursive: true });
  try {
    makeFiles(to, version, positionals);
    sign(to, { key, signers });
  } catch (error) {
    rmSync(to, { recursive: true, force: true });
    throw error;
  }
  console.log(`${to}:\n${readFileSync(join(to, SUMS), 'utf8').trimEnd()}`);
}

try {
  main();
} catch (error) {
  if (!(error instanceof ReleaseError)) throw error;
  console.error(error.message);
  process.exitCode = 1;
}
