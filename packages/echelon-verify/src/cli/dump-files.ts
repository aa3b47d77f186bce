import { stat } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import type { DumpAdapter, Mapping } from '../dumps/adapter.ts';
import { fileStart } from '../dumps/registry.ts';
import type { StepAdapter } from '../dumps/steps/adapter.ts';
import { anyAdapterFor } from '../dumps/steps/registry.ts';
import { unknownTable } from '../dumps/unknown-table.ts';
import { BatchFormatError } from '../format/format-error.ts';
import { type FolderContents, walk } from '../run-folder/walk.ts';
import { BatchFileError } from './batch-files.ts';

/** Files that are read together: one of the project's own format, or the dumps of one trainer in step order, with advantages or steps. */
export type Source =
  | { readonly file: string }
  | { readonly adapter: DumpAdapter; readonly files: readonly string[] }
  | { readonly steps: StepAdapter; readonly files: readonly string[] };

/** What the paths hold, and the files of folders that are in no known format. */
export interface Sources {
  readonly sources: readonly Source[];
  readonly skipped: readonly string[];
  /** What is wrong with the files that cannot be read far enough to tell their format. */
  readonly broken: readonly Error[];
  /** The folders among the paths. */
  readonly folders: readonly SortedFolder[];
}

/** A folder with what reads its files. */
export interface SortedFolder {
  readonly path: string;
  readonly contents: FolderContents;
  /** What reads some of its files. */
  readonly readers: readonly (DumpAdapter | StepAdapter | 'native')[];
  /** Files that were not opened, since many others of such names are in no known format. */
  readonly unopened: number;
}

/** Files of one shape of name in no known format after which the others are not opened. */
const MAX_UNKNOWN_OF_SHAPE = 100;
/** Files in no known format, of all shapes, after which only those of known shapes are opened. */
const MAX_UNKNOWN = 5_000;
/** Files of each folder that are opened before the others. */
const FIRST_OF_FOLDER = 20;

/**
 * Sorts files and folders by what reads them. `forced` reads all of them with one adapter. Of a table of no known trainer the
 * fault says how to have it read. Any other file in no known format is read as the project's own, which says what is wrong with it.
 */
export async function sourcesOf(
  paths: readonly string[],
  forced?: DumpAdapter | StepAdapter,
  map?: Mapping,
): Promise<Sources> {
  const sources: Source[] = [];
  const skipped: string[] = [];
  const broken: Error[] = [];
  const folders: SortedFolder[] = [];
  for (const path of paths) {
    if (!(await isOfKind(path, 'isDirectory'))) {
      const found = await kindOf(path, forced, map);
      if (found instanceof BatchFormatError) broken.push(found);
      else sources.push(...(found === undefined ? await nativeOr(path, broken) : sourcesFrom(found, [path])));
      continue;
    }
    const contents = await walkOr(path, broken);
    if (contents === undefined) continue;
    const sorted = await sortedBy(contents.files, (file) => kindOf(file, forced, map));
    skipped.push(...sorted.unknown);
    broken.push(...sorted.broken);
    sources.push(...sorted.own.map((file) => ({ file })));
    for (const [found, files] of sorted.read) sources.push(...sourcesFrom(found, files));
    const readers = [...(sorted.own.length > 0 ? (['native'] as const) : []), ...sorted.read.keys()];
    folders.push({ path, contents, readers, unopened: sorted.unopened });
  }
  return { sources: joined(sources), skipped, broken, folders };
}

/** What is in a folder; undefined, with the fault among the broken ones, if it cannot be listed. */
async function walkOr(path: string, broken: Error[]): Promise<FolderContents | undefined> {
  try {
    return await walk(path);
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    if (code === undefined) throw error;
    broken.push(
      new BatchFileError(`Cannot list ${path}: ${code === 'EACCES' ? 'permission denied.' : message}`),
    );
    return undefined;
  }
}

/** A file in no known format is read as the project's own, unless it is a table that needs the names of its columns. */
async function nativeOr(file: string, broken: Error[]): Promise<Source[]> {
  const fault = await unknownIn(file);
  if (fault === undefined) return [{ file }];
  broken.push(fault);
  return [];
}

function sourcesFrom(found: DumpAdapter | StepAdapter | 'native', files: readonly string[]): Source[] {
  if (found === 'native') return files.map((file) => ({ file }));
  return ['estimators' in found ? { adapter: found, files } : { steps: found, files }];
}

type Kind = Awaited<ReturnType<typeof kindOf>>;

/** Files by what reads them, in bounded time also if a folder has many of others. */
async function sortedBy(files: readonly string[], kind: (file: string) => Promise<Kind>) {
  const read = new Map<DumpAdapter | StepAdapter, string[]>();
  const shapes = new Map<string, { known: number; unknown: number }>();
  const [own, unknown, broken]: [string[], string[], BatchFormatError[]] = [[], [], []];
  const kinds = new Map<string, Kind>();
  let [unrecognised, unopened] = [0, 0];
  for (const file of someOfEachFirst(files)) {
    const key = shapeOf(file);
    const shape = shapes.get(key) ?? { known: 0, unknown: 0 };
    shapes.set(key, shape);
    const isEnough = shape.unknown >= MAX_UNKNOWN_OF_SHAPE || unrecognised >= MAX_UNKNOWN;
    if (shape.known === 0 && isEnough) {
      unopened++;
      continue;
    }
    const found = await kind(file);
    kinds.set(file, found);
    const isKnown = found !== undefined && !(found instanceof BatchFormatError);
    shape[isKnown ? 'known' : 'unknown']++;
    if (!isKnown) unrecognised++;
  }
  for (const file of files) {
    if (!kinds.has(file)) continue;
    const found = kinds.get(file);
    if (found instanceof BatchFormatError) broken.push(found);
    else if (found === undefined) unknown.push(file);
    else if (found === 'native') own.push(file);
    else if (read.has(found)) read.get(found)!.push(file);
    else read.set(found, [file]);
  }
  return { own, read, unknown, broken, unopened };
}

/** The files with the first ones of each folder in front: a folder of many others does not hide the dumps in the next. */
function someOfEachFirst(files: readonly string[]): string[] {
  const seen = new Map<string, number>();
  const [first, rest]: [string[], string[]] = [[], []];
  for (const file of files) {
    const count = seen.get(dirname(file)) ?? 0;
    seen.set(dirname(file), count + 1);
    (count < FIRST_OF_FOLDER ? first : rest).push(file);
  }
  return [...first, ...rest];
}

/** Equal for files of one folder whose names differ in numbers and hexadecimal ids only. */
function shapeOf(file: string): string {
  const name = basename(file)
    .replaceAll(/[0-9a-f]{8,}/gi, '0')
    .replaceAll(/\d+/g, '0');
  return join(dirname(file), name);
}

async function kindOf(
  file: string,
  forced?: DumpAdapter | StepAdapter,
  map?: Mapping,
): Promise<DumpAdapter | StepAdapter | 'native' | BatchFormatError | undefined> {
  if (forced !== undefined) return forced;
  try {
    if (!(await isOfKind(file, 'isFile'))) return undefined;
    return await anyAdapterFor(file, map);
  } catch (error) {
    if (error instanceof BatchFormatError) return error;
    const { code } = error as NodeJS.ErrnoException;
    if (code === undefined) throw error;
    const found = code === 'EACCES' ? 'no permission' : code;
    return new BatchFormatError({ code: 'unreadable', file, expected: 'a file that can be read', found });
  }
}

/** The first of the files that is a table with groups and rewards, with how to have it read. */
export async function tableAmong(files: readonly string[]): Promise<BatchFormatError | undefined> {
  for (const file of files) {
    const fault = await unknownIn(file);
    if (fault !== undefined && !fault.expected.includes('=COLUMN')) return fault;
  }
  return undefined;
}

/** What is wrong with a table of no known trainer; undefined for any other file. */
async function unknownIn(file: string): Promise<BatchFormatError | undefined> {
  return (await isOfKind(file, 'isFile')) ? unknownTable(await fileStart(file)) : undefined;
}

async function isOfKind(path: string, kind: 'isFile' | 'isDirectory'): Promise<boolean> {
  try {
    return (await stat(path))[kind]();
  } catch {
    return false;
  }
}

type Read = Exclude<Source, { readonly file: string }>;

const readerOf = (source: Read) => ('adapter' in source ? source.adapter : source.steps);

/** Files of one trainer that were named one by one are one run. */
function joined(sources: readonly Source[]): Source[] {
  const all: Source[] = [];
  for (const source of sources) {
    const before = all.at(-1);
    if (before === undefined || 'file' in before || 'file' in source || readerOf(before) !== readerOf(source))
      all.push(source);
    else all[all.length - 1] = { ...before, files: [...before.files, ...source.files] };
  }
  return all;
}
