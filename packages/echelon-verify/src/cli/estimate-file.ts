import { EXIT } from 'command-kit/exit';
import { inert } from 'command-kit/inert';
import { json } from 'command-kit/output';
import { table } from 'command-kit/table';
import type { Batch } from '../format/batch.ts';
import { type EstimatorOverrides, estimate } from '../identify/estimate.ts';
import { allowedInWords, isAllowed } from '../kernel/estimators/parameters.ts';
import type { EstimatorName } from '../kernel/estimators/registry.ts';
import { estimatorNames, estimatorOf } from '../kernel/estimators/registry.ts';
import { BatchFileError, orUnreadable, readBatchesOf, type TextStreams } from './batch-files.ts';

/**
 * `echelon estimate FILE --estimator gigpo`: estimates recorded batches without a server. The text is a summary of the
 * advantages; JSON `{batches: [{name, fingerprint, advantage}]}` holds them all, with null for a value that is not finite. The
 * exit status is 0, or 2 if the file is unreadable or lacks a column that the estimator needs.
 */
export function estimateFile(
  path: string,
  options: {
    /** Default: the batch's estimator. */
    readonly estimator?: EstimatorName | undefined;
    /** Parameters that replace the batch's, such as `historyLength`. */
    readonly params?: EstimatorOverrides['params'];
    /** Name of one batch. Default: all batches. */
    readonly batch?: string | undefined;
    readonly json?: boolean | undefined;
  },
  io: TextStreams,
): Promise<number> {
  return orUnreadable(io, async () => {
    const batches = await readBatchesOf(path, options.batch);
    const params = options.params ?? {};
    const overrides: EstimatorOverrides = {
      params,
      ...(options.estimator === undefined ? {} : { name: options.estimator }),
    };
    refuseUnused(
      params,
      batches.map((batch) => options.estimator ?? batch.estimator.name),
    );
    const estimates = batches.map((batch) => ({ batch, ...estimate(batch, overrides) }));
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
    io.stdout.write(
      `${table(['batch', 'rows', 'minimum', 'mean', 'maximum', 'zero'], rows, io.stdout.columns)}\n\n`,
    );
    io.stdout.write(`estimator: ${fingerprints.join('\n           ')}\n`);
    return EXIT.ok;
  });
}

/**
 * Throws a {@link BatchFileError} for a parameter that none of the estimators has, because the user expects an effect, and for
 * a value that the estimator does not allow.
 */
function refuseUnused(
  params: NonNullable<EstimatorOverrides['params']>,
  used: readonly EstimatorName[],
): void {
  for (const [key, value] of Object.entries(params)) {
    if (value === undefined) continue;
    const estimators = estimatorNames().filter((name) => key in estimatorOf(name).parameters);
    const by = [...new Set(used)].filter((name) => estimators.includes(name));
    if (by.length === 0) {
      throw new BatchFileError(
        `${flagOf(key)} is a parameter of ${estimators.join(', ')}, not of ${[...new Set(used)].join(', ')}. Choose the estimator with --estimator.`,
      );
    }
    for (const name of by) {
      const rule = estimatorOf(name).parameters[key]!;
      if (!isAllowed(rule, value))
        throw new BatchFileError(`${flagOf(key)} of ${name} must be ${allowedInWords(rule)}, not ${value}.`);
    }
  }
}

function flagOf(key: string): string {
  return `--param ${key}`;
}

function describe(batch: Batch, advantage: Float64Array): (string | number)[] {
  const finite = advantage.filter(Number.isFinite);
  const sum = finite.reduce((total, a) => total + a, 0);
  const minimum = finite.reduce((a, b) => Math.min(a, b), Number.POSITIVE_INFINITY);
  const maximum = finite.reduce((a, b) => Math.max(a, b), Number.NEGATIVE_INFINITY);
  const zeros = finite.filter((a) => a === 0).length;
  const share = finite.length === 0 ? '–' : `${((100 * zeros) / finite.length).toFixed(1)} %`;
  // A negative value that rounds to 0 loses its sign.
  const shown = (x: number): string => (finite.length === 0 ? '–' : x.toFixed(4).replace(/^-(0\.0+)$/, '$1'));
  return [inert(batch.name), batch.rows, shown(minimum), shown(sum / finite.length), shown(maximum), share];
}
