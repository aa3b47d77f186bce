import { isUtf8 } from 'node:buffer';
import type { Dirent } from 'node:fs';
import { readdir, readFile, realpath } from 'node:fs/promises';
import { dirname, isAbsolute, join, matchesGlob, relative, resolve, sep } from 'node:path';
import { CliError, EXIT } from 'echelon-verify/cli/exit';
import { MAX_FILE_BYTES, MAX_FILES } from '../core/launch-plan.ts';
import { readSpecFile } from './spec-file.ts';

/** Names one glob a line, as `.gitignore` does; the first of these files in the folder counts. */
const IGNORE_FILES = ['.echelonignore', '.gitignore'];
const ALWAYS_IGNORED = [
  ...['.git', '.echelonignore', '.gitignore', '.venv', 'node_modules', '__pycache__', '*.pyc', '.DS_Store'],
  '.ipynb_checkpoints',
];

/**
 * As {@link readSpecFile}, with the files of a folder in place of its path: `files: ./mine` in a spec, or in the shared spec of
 * a sweep. The path is relative to the file of the spec.
 */
export async function readSpec(file: string): Promise<unknown> {
  const given = await readSpecFile(file);
  const base = file === '-' ? '.' : dirname(file);
  const sweep = await filled(given, base);
  if (!isObject(sweep) || !isObject(sweep.spec)) return sweep;
  return { ...sweep, spec: await filled(sweep.spec, base) };
}

async function filled(spec: unknown, base: string): Promise<unknown> {
  if (!isObject(spec) || typeof spec.files !== 'string') return spec;
  const folder = resolve(base, spec.files);
  const inside = relative(await realPath(base), await realPath(folder));
  // A spec from someone else must not choose which files of this machine are read and sent.
  if (inside === '..' || inside.startsWith(`..${sep}`) || isAbsolute(inside))
    throw new CliError(
      EXIT.usage,
      `The spec names the files of ${spec.files}, which is outside the folder of the spec (${resolve(base)}). Put the program below that folder, or on the shared root and name it in workingDir.`,
    );
  return { ...spec, files: await filesOf(folder) };
}

/** The path without links; a folder that is missing is reported when it is read. */
function realPath(path: string): Promise<string> {
  return realpath(path).catch(() => path);
}

/** The texts of a folder by their relative paths. Throws a CliError if a file is no text, or they are too many or too large. */
export async function filesOf(folder: string): Promise<Record<string, string>> {
  const ignored = await ignoredIn(folder);
  const found: Record<string, string> = {};
  let bytes = 0;
  for await (const entry of entriesOf(folder, (path) => ignored.some((glob) => matches(path, glob)))) {
    const path = join(entry.parentPath, entry.name);
    const name = relative(folder, path).split(sep).join('/');
    if (!entry.isFile()) refuse(`${path} is no regular file`);
    const content = await readFile(path);
    bytes += content.byteLength;
    if (!isUtf8(content) || content.includes(0)) refuse(`${path} is not a text`);
    if (bytes > MAX_FILE_BYTES || Object.keys(found).length === MAX_FILES)
      refuse(`${folder} has more than ${MAX_FILES} files or ${MAX_FILE_BYTES / 1024} KiB`);
    found[name] = content.toString('utf8');
  }
  return found;
}

async function* entriesOf(
  folder: string,
  ignores: (path: string) => boolean,
  top = folder,
): AsyncGenerator<Dirent> {
  const entries = await readdir(folder, { withFileTypes: true }).catch((error: NodeJS.ErrnoException) => {
    throw new CliError(EXIT.usage, `Cannot read the folder ${folder}: ${error.code ?? error.message}.`);
  });
  for (const entry of entries.sort((a, b) => (a.name < b.name ? -1 : 1))) {
    const path = join(folder, entry.name);
    if (ignores(relative(top, path).split(sep).join('/'))) continue;
    if (entry.isDirectory()) yield* entriesOf(path, ignores, top);
    else yield entry;
  }
}

async function ignoredIn(folder: string): Promise<string[]> {
  for (const name of IGNORE_FILES) {
    const text = await readFile(join(folder, name), 'utf8').catch(() => undefined);
    if (text === undefined) continue;
    const lines = text.split(/\r?\n/).map((line) => line.trim());
    const globs = lines.filter((line) => line !== '' && !line.startsWith('#'));
    const negated = globs.find((glob) => glob.startsWith('!'));
    if (negated !== undefined)
      refuse(`${join(folder, name)} has ${negated}: a line that begins with ! is not supported`);
    return [...ALWAYS_IGNORED, ...globs];
  }
  return ALWAYS_IGNORED;
}

/** A glob without a slash is a name at any depth; one with a slash is a path from the folder. */
function matches(path: string, glob: string): boolean {
  const bare = glob.replace(/\/$/, '');
  const fromTop = bare.includes('/') ? bare.replace(/^\//, '') : `**/${bare}`;
  return matchesGlob(path, fromTop);
}

function refuse(why: string): never {
  const remedy =
    'List it in .echelonignore, or put the program on the shared root and name it in workingDir.';
  throw new CliError(EXIT.usage, `${why}. ${remedy}`);
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
