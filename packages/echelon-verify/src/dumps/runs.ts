/** Which files are of one run, and which of them have one configuration: a batch is judged by that of its own run only. */

import { dirname } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { groupedBy } from '../base/grouped-by.ts';
import type { DumpAdapter, FoundConfiguration, Once } from './adapter.ts';

/** The files of one run, in step order. */
export interface DumpRun {
  /** The folder that holds the dumps of the run, and of no other. */
  readonly run: string;
  readonly files: readonly string[];
}

/** Files of a run with one configuration. */
export interface ConfiguredFiles {
  readonly found: FoundConfiguration | undefined;
  readonly files: readonly string[];
}

/** The files of one trainer by run, in the order in which the runs first occur. */
export function runsOf({ runOf = dirname }: Pick<DumpAdapter, 'runOf'>, files: readonly string[]): DumpRun[] {
  const runs = groupedBy(files, (file) => runOf(file));
  return [...runs].map(([run, own]) => ({ run, files: own }));
}

/** The files of a run, split at each change of the configuration: a resumed run can have another one. */
export async function configured(
  { find }: Pick<DumpAdapter, 'find'>,
  files: readonly string[],
): Promise<ConfiguredFiles[]> {
  const read = new Map<string, Promise<unknown>>();
  const once: Once = async (key, reading) => {
    const known = (read.get(key) as ReturnType<typeof reading> | undefined) ?? reading();
    read.set(key, known);
    return await known;
  };
  const parts: { found: FoundConfiguration | undefined; files: string[] }[] = [];
  for (const file of files) {
    const found = await find?.(file, once);
    const before = parts.at(-1);
    if (before !== undefined && isSame(before.found, found)) before.files.push(file);
    else parts.push({ found, files: [file] });
  }
  return parts;
}

function isSame(a: FoundConfiguration | undefined, b: FoundConfiguration | undefined): boolean {
  return isDeepStrictEqual([a?.options, a?.estimator], [b?.options, b?.estimator]);
}
