import { EXIT } from 'command-kit/exit';
import { inert } from 'command-kit/inert';
import { json } from 'command-kit/output';
import { table } from 'command-kit/table';
import { describeSignal } from '../explain/describe-signal.ts';
import type { SignalDescription } from '../report/signal-description.ts';
import { verifyBatch } from '../verify/verify-batch.ts';
import { orUnreadable, readBatchesOf, type TextStreams } from './batch-files.ts';

/** `echelon signal FILE`: describes what recorded batches offer to learn from. The exit status is 0, or 2 if a column is missing. */
export function signalFile(
  path: string,
  options: { readonly batch?: string | undefined; readonly json?: boolean | undefined },
  io: TextStreams,
): Promise<number> {
  return orUnreadable(io, async () => {
    const described = (await readBatchesOf(path, options.batch)).map((batch) => ({
      ...describeSignal(batch),
      partsDisagree: verifyBatch(batch).diagnosis?.partsDisagree,
    }));
    if (options.json === true) io.stdout.write(`${json({ batches: described })}\n`);
    else
      io.stdout.write(
        `${described.map((one) => signalText(one, io.stdout.columns, one.partsDisagree)).join('\n\n')}\n`,
      );
    return EXIT.ok;
  });
}

const percent = (share: number | null): string => (share === null ? '–' : `${(100 * share).toFixed(1)} %`);

/** A description for people. `partsDisagree`: share of the rows whose parts have opposite signs. */
export function signalText(
  one: SignalDescription,
  width: number | undefined,
  partsDisagree?: number,
): string {
  const head = ['rows compared by', 'clusters', 'explains', 'adjusted', 'by chance'];
  const lines = one.keys.map(({ key, clusters, explained, adjusted, byChance }) => [
    key,
    clusters,
    percent(explained),
    percent(adjusted),
    byChance === null ? '–' : byChance.map(percent).join(' to '),
  ]);
  const { advantageZero, alone, groupWithoutSpread, penaltyOnly, groupWithoutGoal } = one.shares;
  return [
    `${inert(one.batch)}, ${one.rows} rows: describes the signal, does not predict success`,
    table(head, lines, width),
    `  pairs of equal observations with other observations before them  ${percent(one.contextInconsistency)}`,
    `  mean return of a context off that of its observation, in deviations and without noise  ${one.contextBias?.toFixed(2) ?? '–'}`,
    `  rows that a row is compared with  ${one.clusterSize.toFixed(1)}, of ${one.effectiveTrajectories.toFixed(1)} effective trajectories`,
    `  rows alone in their state  ${percent(alone)}`,
    `  rows with advantage 0  ${percent(advantageZero)}`,
    `  rows in groups of equal rewards  ${percent(groupWithoutSpread)}, with an advantage from penalties only  ${percent(penaltyOnly)}`,
    ...(groupWithoutGoal === null ? [] : [`  rows in groups without success  ${percent(groupWithoutGoal)}`]),
    ...(partsDisagree === undefined
      ? []
      : [`  rows whose parts have opposite signs  ${percent(partsDisagree)}`]),
  ].join('\n');
}
