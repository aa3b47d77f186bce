import type { EstimatorName } from '../kernel/fingerprint.ts';
import { type EstimatorOverrides, estimate } from '../verify/explain/estimate.ts';
import type { Batch } from '../verify/format/batch.ts';
import { BatchFileError, orUnreadable, readBatchesOf, readBatchOf, type TextStreams } from './batch-files.ts';
import { EXIT } from './exit.ts';
import { inert, json, table } from './output.ts';

export interface EstimateFileOptions {
  /** The estimator to put in the place of the batch's own; left out: its own. */
  readonly estimator?: EstimatorName | undefined;
  /** Other parameters to change, e.g. `historyLength`. */
  readonly overrides?: EstimatorOverrides | undefined;
  /** One batch by its name; left out: all. */
  readonly batch?: string | undefined;
  readonly json?: boolean | undefined;
}

/**
 * `echelon estimate FILE --estimator gigpo`: estimates recorded batches again, offline. Text says how the advantages
 * lie; JSON `{batches: [{name, fingerprint, advantage}]}` holds them all (null for what is not finite). Exit status 0,
 * or 2 where the file is unreadable or lacks a column that the estimator needs.
 */
export function estimateFile(path: string, options: EstimateFileOptions, io: TextStreams): Promise<number> {
  return orUnreadable(io, async () => {
    const batches =
      options.batch === undefined ? await readBatchesOf(path) : [await readBatchOf(path, options.batch)];
    const overrides: EstimatorOverrides = {
      ...options.overrides,
      ...(options.estimator === undefined ? {} : { name: options.estimator }),
    };
    const estimates = batches.map((batch) => ({ batch, ...estimate(batch, overrides) }));
    refuseUnused(
      overrides,
      estimates.map(({ estimator }) => estimator),
    );
    if (options.json === true) {
      const shown = estimates.map(({ batch, estimator, fingerprint, advantage }) => ({
        name: batch.name,
        estimator,
        fingerprint,
        advantage: Array.from(advantage, (a) => (Number.isFinite(a) ? a : null)),
      }));
      io.stdout.write(`${json({ batches: shown })}\n`);
      return EXIT.ok;
    }
    const rows = estimates.map(({ batch, advantage }) => describe(batch, advantage));
    const fingerprints = [...new Set(estimates.map(({ fingerprint }) => fingerprint))];
    io.stdout.write(`${table(['batch', 'rows', 'least', 'mean', 'greatest', 'zero'], rows)}\n\n`);
    io.stdout.write(`by ${fingerprints.join('\n   ')}\n`);
    return EXIT.ok;
  });
}

/** The estimators that a parameter of the command line changes. */
const CHANGED_BY: Partial<Record<keyof EstimatorOverrides, { flag: string; estimators: EstimatorName[] }>> = {
  historyLength: { flag: '--history-length', estimators: ['hgpo'] },
  mode: { flag: '--mode', estimators: ['hgpo', 'gigpo'] },
  deviation: { flag: '--deviation', estimators: ['hgpo', 'gigpo', 'grpo'] },
};

/** Throws a {@link BatchFileError} for a parameter that changes nothing: the numbers are not what was asked for. */
function refuseUnused(overrides: EstimatorOverrides, used: readonly EstimatorName[]): void {
  for (const [name, { flag, estimators }] of Object.entries(CHANGED_BY)) {
    if (overrides[name as keyof EstimatorOverrides] === undefined) continue;
    if (used.some((one) => estimators.includes(one))) continue;
    throw new BatchFileError(
      `${flag} goes with ${estimators.join(', ')}; this is estimated by ${[...new Set(used)].join(', ')}`,
    );
  }
}

function describe(batch: Batch, advantage: Float64Array): (string | number)[] {
  const finite = advantage.filter(Number.isFinite);
  const sum = finite.reduce((total, a) => total + a, 0);
  const least = finite.reduce((a, b) => Math.min(a, b), Number.POSITIVE_INFINITY);
  const greatest = finite.reduce((a, b) => Math.max(a, b), Number.NEGATIVE_INFINITY);
  const zeros = finite.filter((a) => a === 0).length;
  const share = finite.length === 0 ? '–' : `${((100 * zeros) / finite.length).toFixed(1)} %`;
  // Without the sign of what is rounded to nothing.
  const shown = (x: number): string => (finite.length === 0 ? '–' : x.toFixed(4).replace(/^-(0\.0+)$/, '$1'));
  return [inert(batch.name), batch.rows, shown(least), shown(sum / finite.length), shown(greatest), share];
}
