import { contradictionsOf, NOT_VERIFIABLE } from 'echelon-verify/report';
import { type Counts, inWords, type Outcome, worstOf } from './outcomes.ts';

/** A recorded batch as lists hold it. */
export interface ListedBatch {
  attempt: number;
  batch: number;
  step: number;
  rows: number;
  verification:
    | (Counts & {
        ok: boolean;
        findings: string[];
        errors: string[];
        stages?: { readonly [stage: string]: Outcome };
      })
    | null;
}

/** A page of the list of batches; `next` is the cursor of the page after it. */
export interface BatchPage {
  items: ListedBatch[];
  next: string | null;
}

/** The first pages, as far as they are full and nothing on them changes any more. */
export function settledPages(pages: readonly BatchPage[]): BatchPage[] {
  const open = pages.findIndex(({ items, next }) => next === null || !items.every(isSettled));
  return pages.slice(0, open < 0 ? pages.length : open);
}

/** A batch that could not be verified may be verified again; any other report is final. */
function isSettled({ verification }: ListedBatch): boolean {
  return verification !== null && !verification.findings.includes(NOT_VERIFIABLE);
}

/** A cell of the strip: one batch, or several in a row if there are too many for a cell each. */
interface Cell {
  first: ListedBatch;
  batches: number;
  worst: Outcome | null;
  /** The worst batch: where a click leads. */
  target: ListedBatch;
  label: string;
}

const RANK: Record<string, number> = { wrong: 4, unverifiable: 3, rounding: 2, exact: 1 };

/** The stages of the optimizer steps among the batches, in the order of a report. */
export const stagesOf = (batches: readonly ListedBatch[]): string[] => [
  ...new Set(batches.flatMap(({ verification }) => Object.keys(verification?.stages ?? {}))),
];

const foundInWords = (verification: NonNullable<ListedBatch['verification']>, rows: number): string =>
  [inWords(verification, rows), ...contradictionsOf(verification)].join('; ');

/** Batches of one cell of the strip, which has at most `limit` cells. */
export const batchesOfCell = (batches: readonly ListedBatch[], limit = 240): number =>
  Math.max(1, Math.ceil(batches.length / limit));

/** At most `limit` cells for the batches, in order; a cell shows the worst of its batches, as a whole or at a `stage`. */
export function cellsOf(batches: readonly ListedBatch[], stage?: string, limit?: number): Cell[] {
  const outcomeOf = ({ verification }: ListedBatch): Outcome | null => {
    if (verification === null) return null;
    return stage === undefined ? worstOf(verification) : (verification.stages?.[stage] ?? null);
  };
  const rank = (one: ListedBatch) => RANK[outcomeOf(one) ?? ''] ?? 0;
  const each = batchesOfCell(batches, limit);
  const cells: Cell[] = [];
  for (let at = 0; at < batches.length; at += each) {
    const own = batches.slice(at, at + each);
    const target = own.reduce((worst, one) => (rank(one) > rank(worst) ? one : worst));
    const { verification, rows } = target;
    const worst = outcomeOf(target);
    const name = `batch ${target.batch}, step ${target.step}`;
    const found = verification === null ? 'not yet verified' : foundInWords(verification, rows);
    const text = `${name}: ${stage === undefined ? found : `${stage} ${worst ?? 'not reported'}`}`;
    const label = own.length === 1 ? text : `${own.length} batches; worst is ${text}`;
    cells.push({ first: own[0]!, batches: own.length, worst, target, label });
  }
  return cells;
}
