import { counted } from 'command-kit/plural';
import { contradictionsOf, isWrong } from 'echelon-verify/report';
import type { ListedBatch } from './strip.ts';

/** Why the training signal of an experiment is wrong, as its loaded batches tell it. */
export interface WrongSignal {
  /** The first batch with a wrong signal; undefined: it is not loaded. */
  first: ListedBatch | undefined;
  /** Contradictions with the number of batches that have each, as "steps-out-of-order in 2 batches". */
  contradictions: string[];
}

/** See {@link WrongSignal}. */
export function wrongSignalOf(batches: readonly ListedBatch[]): WrongSignal {
  const wrong = batches.filter(({ verification }) => verification !== null && isWrong(verification));
  const counts = new Map<string, number>();
  for (const { verification } of wrong)
    for (const code of contradictionsOf(verification!)) counts.set(code, (counts.get(code) ?? 0) + 1);
  return {
    first: wrong[0],
    contradictions: Array.from(counts, ([code, n]) => `${code} in ${counted(n, 'batch', 'batches')}`),
  };
}
