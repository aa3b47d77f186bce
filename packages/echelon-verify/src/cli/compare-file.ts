import { EXIT } from 'command-kit/exit';
import { inert } from 'command-kit/inert';
import { json } from 'command-kit/output';
import { table } from 'command-kit/table';
import { type Comparison, compare } from '../identify/estimate.ts';
import type { EstimatorName } from '../kernel/estimators/registry.ts';
import { orUnreadable, readBatchesOf, type TextStreams } from './batch-files.ts';

/**
 * `echelon compare FILE --estimators hgpo,gigpo,grpo`: compares estimators with the batch's own on recorded batches. The exit
 * status is 0, or 2 if the file is unreadable or lacks a column that an estimator needs.
 */
export function compareFile(
  path: string,
  options: {
    readonly estimators: readonly EstimatorName[];
    /** Name of one batch. Default: all batches. */
    readonly batch?: string | undefined;
    readonly json?: boolean | undefined;
  },
  io: TextStreams,
): Promise<number> {
  return orUnreadable(io, async () => {
    const batches = await readBatchesOf(path, options.batch);
    const comparisons = batches.map((batch) => compare(batch, options.estimators));
    if (options.json === true) io.stdout.write(`${json({ batches: comparisons })}\n`);
    else io.stdout.write(`${comparisons.map((one) => describe(one, io.stdout.columns)).join('\n\n')}\n`);
    return EXIT.ok;
  });
}

function describe({ batch, rows, reference, differences }: Comparison, width: number | undefined): string {
  const head = [
    'estimator',
    'mean |difference|',
    'largest',
    'at row',
    'correlation',
    'sign flips',
    '0 in one',
  ];
  const lines = differences.map((d) => [
    d.estimator,
    d.meanAbsolute.toFixed(4),
    d.largest.toFixed(4),
    d.largestRow < 0 ? '–' : d.largestRow,
    Number.isNaN(d.correlation) ? '–' : d.correlation.toFixed(4),
    d.signFlips,
    d.zeroInOne,
  ]);
  const fingerprints = differences.map((d) => `  ${d.fingerprint}`);
  return [
    `${inert(batch)}, ${rows} rows, compared with ${reference}`,
    table(head, lines, width),
    ...fingerprints,
  ].join('\n');
}
