import { readdir, stat } from 'node:fs/promises';
import { basename, join } from 'node:path';
import type { DumpAdapter, Mapping } from '../dumps/adapter.ts';
import { fileStart } from '../dumps/registry.ts';
import type { StepAdapter } from '../dumps/steps/adapter.ts';
import { anyAdapterFor } from '../dumps/steps/registry.ts';
import { unknownTable } from '../dumps/unknown-table.ts';
import { BatchFormatError } from '../format/format-error.ts';

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
  readonly broken: readonly BatchFormatError[];
}

/** Names of files that can be a dump: folders of a run hold much else. */
const DUMP = /\.(?:parquet|(?:jsonl|ndjson|json|csv|tsv)(?:\.gz)?|pt|pkl|pb)$/i;

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
  const broken: BatchFormatError[] = [];
  for (const path of paths) {
    const isFolder = await isOfKind(path, 'isDirectory');
    const files = isFolder ? await filesIn(path) : [path];
    const read = new Map<DumpAdapter | StepAdapter, string[]>();
    for (const file of files) {
      const found = await kindOf(file, forced, map);
      if (found instanceof BatchFormatError) broken.push(found);
      else if (found === 'native') sources.push({ file });
      else if (found === undefined && isFolder) skipped.push(file);
      else if (found === undefined) {
        const fault = await unknownIn(file);
        if (fault === undefined) sources.push({ file });
        else broken.push(fault);
      } else read.set(found, [...(read.get(found) ?? []), file]);
    }
    for (const [adapter, own] of read)
      sources.push('estimators' in adapter ? { adapter, files: own } : { steps: adapter, files: own });
  }
  return { sources: joined(sources), skipped, broken };
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
    throw error;
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

/** A folder of weights and optimizer states of transformers, whose files are no dumps. */
const CHECKPOINT = /^checkpoint-\d+$/;

/** The files below a folder in which dumps can be, in natural order: 2 before 10. */
async function filesIn(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  return entries
    .filter(
      (entry) => entry.isFile() && DUMP.test(entry.name) && !CHECKPOINT.test(basename(entry.parentPath)),
    )
    .map((entry) => join(entry.parentPath, entry.name))
    .sort((a, b) => a.localeCompare(b, 'en', { numeric: true }));
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
