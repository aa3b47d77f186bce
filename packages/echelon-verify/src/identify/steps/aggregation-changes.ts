import { roundToBfloat16 } from '../../arithmetic/arithmetic.ts';
import type { StepBatch } from '../../format/step-batch.ts';
import type { AggregationSettings } from '../../format/step-settings.ts';
import { COUNTED, SCOPES } from '../../format/step-settings.ts';
import { AGGREGATIONS } from '../../step/model/aggregations.ts';
import type { Layout } from '../../step/model/layout.ts';
import { neutralScale } from '../../step/stages/denominator.ts';
import { type Change, withSettings } from './change.ts';

const SCOPE_TEXT = {
  global: 'over all ranks and micro-batches',
  window: 'over the rollout batch',
  rank: 'per rank',
  'micro-batch': 'per micro-batch',
};
const COUNT_TEXT = {
  mask: 'tokens of the loss mask',
  kept: 'tokens that rejection kept',
  sampled: 'sampled tokens',
  all: 'all tokens, truncated and tool tokens included',
};

/** Every other aggregation whose divisors differ from the stated ones, and the counts in which trainers have erred. */
export function aggregationChanges(batch: StepBatch, layout: Layout): Change[] {
  const stated = batch.step.aggregation;
  if (stated === undefined) return [];
  const all = [...modesOf(stated, batch), ...countsOf(stated, layout)];
  const seen = new Set<string>([signature(batch, layout, stated)]);
  return all.flatMap(({ settings, text }): Change[] => {
    const own = signature(batch, layout, settings);
    if (seen.has(own)) return [];
    seen.add(own);
    return [{ dimension: 'aggregation', text, apply: (one) => reaggregated(one, layout, settings) }];
  });
}

/** The factor beside the neutral one stays: it belongs to the loss, not to its scope. */
function reaggregated(batch: StepBatch, layout: Layout, aggregation: AggregationSettings): StepBatch {
  const microBatches = batch.step.microBatches.map((one, at) => {
    if (one.gradientScale === undefined) return one;
    const extra = one.gradientScale / neutralScale(batch, layout, at);
    return { ...one, gradientScale: extra * neutralScale(batch, layout, at, aggregation) };
  });
  return withSettings(batch, { aggregation, microBatches });
}

interface Guess {
  readonly settings: AggregationSettings;
  readonly text: string;
}

function modesOf(stated: AggregationSettings, batch: StepBatch): Guess[] {
  const said = `you said ${stated.mode} ${SCOPE_TEXT[stated.scope]}`;
  const rowCounts: AggregationSettings['rowCount'][] = [
    ...new Set<AggregationSettings['rowCount']>([stated.rowCount, 'all', 'trained']),
  ];
  // The nearest guesses come first: of two with the same divisors only the first is listed.
  const counts = [stated.counts, ...COUNTED.filter((one) => one !== stated.counts)];
  return counts.flatMap((counted) =>
    AGGREGATIONS.filter(({ mode }) => mode !== 'constant' && (mode !== 'prompt-mean' || batch.group)).flatMap(
      ({ mode }) =>
        scopesOf(mode, batch).flatMap((scope) =>
          rowCounts.map((rowCount): Guess => {
            const counting = counted === stated.counts ? '' : `, counting ${COUNT_TEXT[counted]}`;
            const rows = rowCount === stated.rowCount ? '' : `, ${rowText(rowCount)}`;
            const text = `${mode} ${SCOPE_TEXT[scope]}${counting}${rows}; ${said}`;
            return { settings: { ...stated, mode, scope, counts: counted, rowCount }, text };
          }),
        ),
    ),
  );
}

/** Only tokens are counted over the rollout batch, if it is stated. */
const scopesOf = (mode: string, { step }: StepBatch): AggregationSettings['scope'][] =>
  SCOPES.filter(
    (scope) => scope !== 'window' || (mode.startsWith('token-mean') && step.window !== undefined),
  );

function rowText(rowCount: AggregationSettings['rowCount']): string {
  if (typeof rowCount === 'number') return `divided by ${rowCount} configured rows`;
  return rowCount === 'all' ? 'counting all rows' : 'counting rows with a trained token only';
}

/** A count in bfloat16, and one in which an empty row counts as a token. */
function countsOf(stated: AggregationSettings, layout: Layout): Guess[] {
  if (stated.mode !== 'token-mean' || stated.scope !== 'global') return [];
  const tokens = layout.tokensOf(0, stated);
  const constant = (denominator: number, text: string): Guess => ({
    settings: { ...stated, mode: 'constant', denominator },
    text: `${text}; you said ${tokens}`,
  });
  return [
    constant(roundToBfloat16(tokens), `the denominator is ${roundToBfloat16(tokens)}, the count in bfloat16`),
    constant(
      layout.tokensWithEmptyRows(stated.counts),
      `the denominator is ${layout.tokensWithEmptyRows(stated.counts)}: an empty row counts as one token`,
    ),
  ];
}

/** Divisors that decide: of two settings with the same ones, one is tried. */
function signature(batch: StepBatch, layout: Layout, settings: AggregationSettings): string {
  const mode = AGGREGATIONS.find((one) => one.mode === settings.mode);
  if (mode === undefined || (mode.needs?.(settings, layout) ?? []).length > 0) return 'none';
  const rows = Math.min(batch.rows, 64);
  const divisors = Array.from({ length: rows }, (_, at) => {
    const row = Math.floor((at * batch.rows) / rows);
    return mode.divide(layout, row, settings) * neutral(layout, settings, row);
  });
  return divisors.join();
}

/** The neutral scale depends on the scope. */
function neutral(layout: Layout, { scope }: AggregationSettings, row: number): number {
  if (scope === 'global') return 1 / layout.ranks;
  return scope === 'rank' ? 1 : layout.microBatchesOfRank(layout.microBatchOf(row));
}
