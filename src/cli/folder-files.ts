import { isUtf8 } from 'node:buffer';
import { lstat, readFile, realpath } from 'node:fs/promises';
import { dirname, isAbsolute, join, relative, resolve, sep } from 'node:path';
import { CliError, EXIT } from 'command-kit/exit';
import { inert } from 'command-kit/inert';
import type { Output } from 'command-kit/output';
import { MAX_FILE_BYTES, MAX_FILES } from '../core/launch-plan.ts';
import { type Listing, listFolder, RULES } from './folder-listing.ts';
import { readSpecFile } from './spec-file.ts';

/**
 * As {@link readSpecFile}, with the files of a folder in place of its path: `files: ./mine` in a spec, or in the shared spec of
 * a sweep. The path is relative to the file of the spec. `output` gets a message about files of the folder that are omitted.
 */
export async function readSpec(file: string, output: Pick<Output, 'remark'>): Promise<unknown> {
  const given = await readSpecFile(file, output);
  const base = file === '-' ? '.' : dirname(file);
  const sweep = await filled(given, base, output);
  if (!isObject(sweep) || !isObject(sweep.spec)) return sweep;
  return { ...sweep, spec: await filled(sweep.spec, base, output) };
}

async function filled(spec: unknown, base: string, output: Pick<Output, 'remark'>): Promise<unknown> {
  if (!isObject(spec) || typeof spec.files !== 'string') return spec;
  const folder = resolve(base, spec.files);
  const inside = relative(await realPath(base), await realPath(folder));
  // A spec from someone else must not choose which files of this machine are read and sent.
  if (inside === '..' || inside.startsWith(`..${sep}`) || isAbsolute(inside))
    throw new CliError(
      EXIT.usage,
      `The spec names the files of ${spec.files}, which is outside the folder of the spec (${resolve(base)}). Put the program below that folder, or on the shared root and name it in workingDir.`,
    );
  const listing = await listFolder(folder);
  const remark = omittedText(listing);
  if (remark !== undefined) output.remark(remark);
  return { ...spec, files: await textsOf(folder, listing) };
}

const MAX_NAMES = 5;

/** What a listing omits, with how to include it; undefined for nothing. */
function omittedText({ omitted: { secrets, ignored } }: Listing): string | undefined {
  const parts = [
    ...(secrets.length > 0 ? [`${named(secrets)} (may hold secrets)`] : []),
    ...(ignored.length > 0 ? [`${named(ignored)} (ignored by rules)`] : []),
  ];
  if (parts.length === 0) return undefined;
  return `Not sent: ${parts.join('; ')}. To send a file, write its name after ! into ${RULES}, whose rules replace git's.`;
}

const named = (paths: readonly string[]): string =>
  inert(paths.slice(0, MAX_NAMES).join(', ')) +
  (paths.length > MAX_NAMES ? ` and ${paths.length - MAX_NAMES} more` : '');

/** The path without links; a folder that is missing is reported when it is read. */
function realPath(path: string): Promise<string> {
  return realpath(path).catch(() => path);
}

/** The texts of a folder by their relative paths. Throws a CliError if there are none, a file is no text, or they are too many or too large. */
async function textsOf(folder: string, listing: Listing): Promise<Record<string, string>> {
  const found: Record<string, string> = {};
  let bytes = 0;
  for (const name of listing.files) {
    const path = join(folder, name);
    if (!(await lstat(path)).isFile()) refuse(`${path} is no regular file`);
    const content = await readFile(path);
    bytes += content.byteLength;
    if (!isUtf8(content) || content.includes(0)) refuse(`${path} is not a text`);
    if (bytes > MAX_FILE_BYTES || Object.keys(found).length === MAX_FILES)
      refuse(`${folder} has more than ${MAX_FILES} files or ${MAX_FILE_BYTES / 1024} KiB`);
    found[name] = content.toString('utf8');
  }
  if (listing.files.length === 0)
    throw new CliError(
      EXIT.usage,
      `${folder} has no file to send. ${omittedText(listing) ?? 'It is empty.'}`,
    );
  return found;
}

function refuse(why: string): never {
  const remedy = `List it in ${RULES}, or put the program on the shared root and name it in workingDir.`;
  throw new CliError(EXIT.usage, `${why}. ${remedy}`);
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
