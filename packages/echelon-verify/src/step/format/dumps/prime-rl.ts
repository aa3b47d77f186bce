/**
 * prime-rl with `trainer.enable_token_export`: `token_exports/step_N/rank_R.jsonl`, a packed sequence a line. Its loss has no old
 * policy: the ratio is that of the trainer and the rollout engine. A step is the files of all its ranks. Sequences without a
 * trained token are not exported; they add nothing to the denominator. `metrics.jsonl` beside `token_exports` has reported values.
 */

import { existsSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { pickedLines } from '../../../format/dumps/records.ts';
import { numberOf } from '../../../format/dumps/rewards.ts';
import { openSource, withSource } from '../../../format/dumps/source.ts';
import { groupedBy } from '../../../grouped-by.ts';
import { present } from '../../../present.ts';
import type { StepSettings } from '../settings.ts';
import { type DumpRow, type StepAdapter, selectionOf, stepOfRows } from './step-adapter.ts';

const COLUMNS = {
  loss_mask: 'mask',
  token_ids: 'id',
  trainer_logprobs: 'logProb',
  inference_logprobs: 'rolloutLogProb',
  advantages: 'reportedAdvantage',
  importance_ratio: 'reportedRatio',
  is_masked: 'reportedClipped',
  entropy: 'entropy',
} as const;
const SELECTION = selectionOf([
  ...Object.keys(COLUMNS),
  ...['step', 'rank', 'micro_step', 'rl_weights', 'ce_weights', 'ref_kl_weights'],
]);
/** Reported values by their keys in `metrics.jsonl`. */
const METRICS = { 'loss/mean': 'loss', 'entropy/all/mean': 'entropy' } as const;
type Metrics = Readonly<Partial<Record<keyof typeof METRICS, number>>>;
type Line = Readonly<Record<string, unknown>>;

/** See the head of this file. */
export const PRIME_RL_TOKENS: StepAdapter = {
  name: 'prime-rl-tokens',
  title: 'prime-rl token exports (JSON lines)',
  columns: COLUMNS,
  states: ['optimizerStep', 'policyLoss', 'aggregation', 'reported'],
  matches: ({ keys }) =>
    ['token_ids', 'trainer_logprobs', 'inference_logprobs', 'micro_step'].every((key) => keys?.has(key)),
  async *steps(files) {
    for (const own of groupedBy(files, dirname).values()) {
      const lines: Line[] = [];
      for (const file of own) {
        await using source = await openSource(file);
        for await (const line of pickedLines(source, SELECTION)) lines.push(line as Line);
      }
      const metrics = await metricsOf(own[0]!, numberOf(lines[0]?.step));
      const file = own.length === 1 ? own[0]! : dirname(own[0]!);
      yield { file, step: stepOf(own[0]!, lines, metrics) };
    }
  },
};

/** The values of a step in `OUTPUT/metrics.jsonl`, of `OUTPUT/token_exports/step_N/rank_R.jsonl`. A step trained again is there again. */
async function metricsOf(file: string, step: number): Promise<Metrics> {
  const path = join(dirname(dirname(dirname(file))), 'metrics.jsonl');
  const metrics: Record<string, number> = {};
  if (!existsSync(path)) return metrics;
  await withSource(path, async (source) => {
    for await (const line of pickedLines(source, selectionOf(['step', ...Object.keys(METRICS)]))) {
      const { step: at, ...own } = line as Line;
      if (numberOf(at) === step)
        for (const [key, value] of Object.entries(own)) metrics[key] = numberOf(value);
    }
  });
  return metrics;
}

/** What the metrics say, in the terms of the format. */
function reportedOf(
  metrics: Metrics,
  lines: readonly Line[],
  ranks: readonly number[],
): StepSettings['reported'] {
  const { 'loss/mean': loss, 'entropy/all/mean': entropy } = metrics;
  const isWeighted = lines.some(
    ({ rl_weights, ce_weights, ref_kl_weights }) =>
      !isDefault(rl_weights) || !isDefault(ce_weights) || !isDefault(ref_kl_weights),
  );
  const absent = ranks.findIndex((rank, at) => rank !== at);
  const ofRanks = absent < 0 ? undefined : `the file of rank ${absent}`;
  const ofEntropy = ofRanks ?? (isWeighted ? 'the tokens of other loss components' : undefined);
  return {
    ...(loss === undefined
      ? {}
      : // A mean over micro-steps and ranks of parts of a sum. Micro-steps without a trained token are not exported.
        {
          loss: {
            value: loss,
            reduction: 'mean-of-micro-batches',
            hasMore: true,
            ...present({ lacks: ofRanks }),
          },
        }),
    ...(entropy === undefined
      ? {}
      : { entropy: { value: entropy, reduction: 'sum', ...present({ lacks: ofEntropy }) } }),
  };
}

const isDefault = (weights: unknown): boolean =>
  !Array.isArray(weights) || weights.every((weight) => weight === null);

/**
 * The thresholds of the default loss, which the run's configuration states and the export does not: prime-rl's defaults, or others
 * if those explain every flag and the defaults do not. Undefined for another loss, whose flags are null.
 */
function lossOf(rows: readonly DumpRow[]): StepSettings['policyLoss'] {
  const flagged = rows.every(({ columns }) => columns.reportedClipped !== undefined);
  if (!flagged) return undefined;
  const limits = { clipHigh: { least: 0, most: Infinity }, clipLow: { least: 0, most: Infinity } };
  for (const { columns } of rows) {
    const { mask, logProb, rolloutLogProb, reportedAdvantage, reportedClipped } = columns;
    reportedClipped?.forEach((flag, at) => {
      if (mask?.[at] === 0) return;
      const change = Math.exp(logProb?.[at] ?? Number.NaN) - Math.exp(rolloutLogProb?.[at] ?? Number.NaN);
      const isUp = (reportedAdvantage?.[at] ?? 0) > 0;
      const limit = limits[isUp ? 'clipHigh' : 'clipLow'];
      const moved = isUp ? change : -change;
      if (flag === 1) limit.most = Math.min(limit.most, moved);
      else limit.least = Math.max(limit.least, moved);
    });
  }
  const entries = Object.entries(limits).map(([key, { least, most }]) => {
    const fits = least <= THRESHOLD + NEAR && most >= THRESHOLD - NEAR;
    return [
      key,
      fits || least >= most ? THRESHOLD : most === Infinity ? least + NEAR : (least + most) / 2,
    ] as const;
  });
  const others = entries.filter(([, value]) => value !== THRESHOLD);
  return { name: 'prime-rl', params: Object.fromEntries(others) };
}

/** prime-rl's default threshold, and the rounding of a probability's change near it. */
const THRESHOLD = 0.2;
const NEAR = 1e-5;

function stepOf(file: string, lines: readonly Line[], metrics: Metrics) {
  const number = numberOf(lines[0]?.step);
  const ranks = [...new Set(lines.map(({ rank }) => numberOf(rank)))].sort((a, b) => a - b);
  const perRank = 1 + Math.max(0, ...lines.map(({ micro_step: at }) => numberOf(at)));
  const rows = lines.map((line) => rowOf(line, ranks, perRank));
  const isPlain = lines.every((line) => isWhole(line.rl_weights));
  const step = stepOfRows(
    Number.isNaN(number) ? basename(dirname(file)) : `step ${number}`,
    {
      trainer: 'prime-rl',
      aggregation: { mode: 'token-mean', scope: 'global', counts: 'mask', rowCount: 'all' },
      dataParallelSize: ranks.length,
      microBatches: ranks.flatMap((rank) =>
        Array.from({ length: perRank }, (_, index) => ({ rank, index, pass: 0 })),
      ),
      // prime-rl undoes the mean over ranks of the gradients, and its loss has no factor of ranks.
      gradientReduction: 'sum',
      reported: reportedOf(metrics, lines, ranks),
      ...present({
        optimizerStep: Number.isNaN(number) ? undefined : number,
        policyLoss: isPlain ? lossOf(rows) : undefined,
      }),
    },
    rows,
  );
  const { rolloutLogProb } = step.tokens;
  return { ...step, tokens: { ...step.tokens, ...present({ oldLogProb: rolloutLogProb }) } };
}

/** Weights other than 0 and 1 scale the loss of a token. */
function isWhole(weights: unknown): boolean {
  return (
    !Array.isArray(weights) || weights.every((weight) => weight === null || weight === 0 || weight === 1)
  );
}

function rowOf(line: Line, ranks: readonly number[], perRank: number): DumpRow {
  const numbers = (column: unknown) => (Array.isArray(column) ? column.map(numberOf) : undefined);
  const weights = numbers(line.rl_weights);
  const own = Object.entries(COLUMNS).map(([from, to]) => [to, numbers(line[from])]);
  const { mask, reportedClipped, ...rest }: Record<string, number[] | undefined> = Object.fromEntries(own);
  return {
    microBatch: ranks.indexOf(numberOf(line.rank)) * perRank + numberOf(line.micro_step),
    columns: present({
      mask: mask?.map((flag, at) => (flag === 1 && weights?.[at] !== 0 ? 1 : 0)),
      reportedClipped: reportedClipped?.every((flag) => !Number.isNaN(flag))
        ? reportedClipped.map((flag) => (flag === 1 ? 1 : 0))
        : undefined,
      ...rest,
    }),
  };
}
