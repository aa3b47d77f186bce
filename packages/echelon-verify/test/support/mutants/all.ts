import type { Forms } from '../../../src/arithmetic/arithmetic.ts';
import type { BatchReport } from '../../../src/report/report.ts';
import { verifyBatch } from '../../../src/verify/verify-batch.ts';
import { goldenBatch, inForms } from '../golden-batches.ts';
import { GRAPH_MUTANTS } from './graph.ts';
import { GROUP_MUTANTS } from './groups.ts';
import { LEVEL_MUTANTS } from './levels.ts';
import { ROW_MUTANTS } from './rows.ts';
import type { Mutant } from './tools.ts';
import { VALUE_MUTANTS } from './values.ts';

/** Every planted bug. */
export const MUTANTS: readonly Mutant[] = [
  ...ROW_MUTANTS,
  ...GROUP_MUTANTS,
  ...LEVEL_MUTANTS,
  ...GRAPH_MUTANTS,
  ...VALUE_MUTANTS,
];

/** What the verifier says of a planted bug. */
export interface Catch {
  readonly mutant: Mutant;
  readonly report: BatchReport;
  /** Codes of error findings other than `wrong-rows`. */
  readonly errors: readonly string[];
  readonly caught: boolean;
}

/**
 * Plants one bug and verifies the result. The golden batches were computed in the recipe's forms, and say so here;
 * with `forms: 'any'` they leave it open, as their files do.
 */
export function tryMutant(mutant: Mutant, forms: Forms = 'recipe'): Catch {
  const report = verifyBatch(mutant.plant(inForms(goldenBatch(mutant.base), forms)));
  const codes = report.findings.filter((f) => f.severity === 'error').map((f) => f.code);
  const errors = [...new Set(codes)].filter((code) => code !== 'wrong-rows');
  return { mutant, report, errors, caught: report.wrong > 0 || errors.length > 0 };
}
