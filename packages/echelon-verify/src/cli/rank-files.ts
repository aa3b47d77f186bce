/** The files in which the ranks of a training recorded one optimizer step. */

import { readdir } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { groupedBy } from '../base/grouped-by.ts';
import { joinParts, partOf } from '../format/join-ranks.ts';
import type { StepBatch } from '../format/step-batch.ts';
import { hasPlaces } from '../step/stages/row-checks.ts';
import { readBundleOf } from './batch-files.ts';

/** A step that a file has some of the ranks of. */
export interface RankPart {
  readonly file: string;
  /** What names the step, as `partOf` says. */
  readonly key: string;
}

/**
 * What names a step that cannot be verified from its file alone: one of which the file has some of the ranks, or whose rows may be in a
 * batch of another file. Undefined for any other step.
 */
export function deferredBy(file: string, step: StepBatch): string | undefined {
  return partOf(step) ?? (hasPlaces(step) ? `${file}: ${step.name}` : undefined);
}

/** As the capture names what rank 3 recorded of step 12: `update-000012-rank-3.pb`. */
const RANK_FILE = /^(?<step>.*)-rank-\d+(?<more>b\d+)?\.pb$/;

/** The file, and those beside it that have the names of the same step's other ranks, in the order of the ranks. */
export async function rankFilesOf(file: string): Promise<string[]> {
  const own = RANK_FILE.exec(basename(file))?.groups;
  if (own === undefined) return [file];
  const names = await readdir(dirname(file)).catch(() => []);
  const others = names.filter((name) => {
    const groups = RANK_FILE.exec(name)?.groups;
    return groups?.step === own.step && groups?.more === own.more;
  });
  const byRank = others.sort((a, b) => a.localeCompare(b, 'en', { numeric: true }));
  return [...new Set([...byRank.map((name) => join(dirname(file), name)), file])];
}

/**
 * The steps of the parts, each with the file of its first rank, or the folder of its files if they are in several. Files of other ranks
 * beside those of the parts are read as well.
 */
export async function* joinedSteps(
  parts: readonly RankPart[],
): AsyncGenerator<{ readonly file: string; readonly step: StepBatch }> {
  for (const [key, own] of groupedBy(parts, (part) => part.key)) {
    const files = new Set<string>();
    for (const { file } of own) for (const one of await rankFilesOf(file)) files.add(one);
    const steps: StepBatch[] = [];
    for (const file of files) {
      const { steps: all } = await readBundleOf(file);
      steps.push(...all.filter((step) => deferredBy(file, step) === key));
    }
    const place = commonPlace([...files]);
    for (const step of joinParts(steps)) yield { file: place, step };
  }
}

function commonPlace(files: readonly string[]): string {
  const folders = files.map(dirname);
  let [folder] = folders as [string];
  if (folders.every((one) => one === folder)) return files[0]!;
  while (!folders.every((one) => `${one}/`.startsWith(`${folder}/`)) && dirname(folder) !== folder)
    folder = dirname(folder);
  return folder;
}
