/** What a reader of a report can do next: at most three lines, for the trainer that wrote the folder. */

import { type FoundTrainer, type NextLine, TRAINERS } from './trainers.ts';

/** What a folder has, as far as it was verified. */
export interface Verified {
  /** `none`: no batch at all; `missing`: batches without advantages; `inferred`: the estimator was. */
  readonly advantages: 'none' | 'missing' | 'inferred' | 'verified';
  readonly steps: boolean;
}

const MAX_LINES = 3;

/** What records the rest of a run, the most useful first. */
export function nextLines(trainers: readonly FoundTrainer[], { advantages, steps }: Verified): NextLine[] {
  const lines = trainers.flatMap((found) => {
    const facts = TRAINERS[found.name];
    const isRecorded = advantages === 'verified' || advantages === 'inferred';
    const estimator = advantages === 'inferred' ? facts.estimator?.(found) : undefined;
    const step = steps ? undefined : facts.steps?.(found);
    return [isRecorded ? undefined : facts.advantages(found), estimator, step];
  });
  const seen = new Set<string>();
  return lines
    .filter((line) => line !== undefined && !seen.has(line.text) && seen.add(line.text))
    .slice(0, MAX_LINES) as NextLine[];
}

/** What every trainer's files are called, for a folder that has none of them. */
export const lookedFor = (): string[] => {
  const rows = Object.values(TRAINERS).map(
    ({ title, files, turnedOnBy }) => [title, files, turnedOnBy] as const,
  );
  const width = Math.max(...rows.map(([title]) => title.length));
  return rows.map(
    ([title, files, by]) => `  ${title.padEnd(width)}  ${files} (${by === 'default' ? 'on by default' : by})`,
  );
};
