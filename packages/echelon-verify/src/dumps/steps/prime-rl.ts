/**
 * prime-rl with `trainer.enable_token_export`: `token_exports/step_N/rank_R.jsonl`, a packed sequence a line. Its loss has no old
 * policy: the ratio is that of the trainer and the rollout engine. A step is the files of all its ranks. Sequences without a
 * trained token are not exported; they add nothing to the denominator. `metrics.jsonl` beside `token_exports` has reported values.
 */

import { existsSync, readdirSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { groupedBy } from '../../base/grouped-by.ts';
import { present } from '../../base/present.ts';
import { BatchFormatError } from '../../format/format-error.ts';
import { MAX_MICRO_BATCHES } from '../../format/read-step-settings.ts';
import type { StepBatch } from '../../format/step-batch.ts';
import type { CorrectionSettings, LossSettings, StepSettings } from '../../format/step-settings.ts';
import type { Finding } from '../../report/report.ts';
import { stepFinding } from '../../report/step-findings.ts';
import { numberIn } from '../cells.ts';
import { pickedLines } from '../records.ts';
import { numberOf } from '../rewards.ts';
import { openSource, withSource } from '../source.ts';
import { checkLengths, type ListKind, numberList } from '../token-lists.ts';
import { type DumpRow, type StepAdapter, selectionOf, stepOfRows } from './adapter.ts';
import { inferredLoss, statedLoss } from './prime-rl-loss.ts';

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

/** A packed sequence, and its place. */
interface Line {
  readonly file: string;
  /** From 0, in its file. */
  readonly row: number;
  readonly values: Readonly<Record<string, unknown>>;
}

/** The files of one step. */
interface Files {
  readonly own: readonly string[];
  /** Ranks that other steps of the run have and this one has not. */
  readonly absent: readonly number[];
}

/** See the head of this file. */
export const PRIME_RL_TOKENS: StepAdapter = {
  name: 'prime-rl-tokens',
  title: 'prime-rl token exports (JSON lines)',
  columns: COLUMNS,
  states: ['optimizerStep', 'policyLoss', 'aggregation', 'reported'],
  matches: ({ keys }) =>
    ['token_ids', 'trainer_logprobs', 'inference_logprobs', 'micro_step'].every((key) => keys?.has(key)),
  async *steps(files) {
    const steps = [...groupedBy(files, dirname).values()];
    const ranks = ranksOfRun(steps);
    for (const own of steps) {
      const lines: Line[] = [];
      for (const file of own) {
        await using source = await openSource(file);
        let row = 0;
        for await (const line of pickedLines(source, SELECTION))
          lines.push({ file, row: row++, values: line as Line['values'] });
      }
      const metrics = await metricsOf(own[0]!, numberOf(lines[0]?.values.step));
      const present = new Set(own.map(rankIn));
      const absent = ranks.filter((rank) => !present.has(rank));
      const step = stepOf({ own, absent }, lines, { metrics, loss: await statedLoss(own[0]!) });
      yield { file: own.length === 1 ? own[0]! : dirname(own[0]!), step };
    }
  },
};

/** The rank in the name of a file; 0 if there is none. */
const rankIn = (file: string): number => Number(/rank_(\d+)\.jsonl/.exec(basename(file))?.[1] ?? 0);

/** The ranks of all steps, of the files beside them as well: each rank writes a file for each step. */
function ranksOfRun(steps: readonly (readonly string[])[]): number[] {
  const beside = steps.flatMap(([file]) =>
    namesIn(dirname(file!)).filter((name) => /^rank_\d+\.jsonl/.test(name)),
  );
  return [...new Set([...steps.flat(), ...beside].map(rankIn))].sort((a, b) => a - b);
}

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}

/** The values of a step in `OUTPUT/metrics.jsonl`, of `OUTPUT/token_exports/step_N/rank_R.jsonl`. A step trained again is there again. */
async function metricsOf(file: string, step: number): Promise<Metrics> {
  const path = join(dirname(dirname(dirname(file))), 'metrics.jsonl');
  const metrics: Record<string, number> = {};
  if (!existsSync(path)) return metrics;
  await withSource(path, async (source) => {
    for await (const line of pickedLines(source, selectionOf(['step', ...Object.keys(METRICS)]))) {
      const { step: at, ...own } = line as Line['values'];
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
  absent: readonly number[],
): StepSettings['reported'] {
  const { 'loss/mean': loss, 'entropy/all/mean': entropy } = metrics;
  const has = (key: string) => lines.some(({ values }) => !isDefault(values[key]));
  const hasOthers = has('ce_weights') || has('ref_kl_weights');
  const ofRanks = absent.length === 0 ? undefined : `the file of rank ${absent[0]}`;
  const ofLoss = ofRanks ?? (hasOthers ? 'the other loss components' : undefined);
  const isWeighted = hasOthers || has('rl_weights');
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
            ...present({ lacks: ofLoss }),
          },
        }),
    ...(entropy === undefined
      ? {}
      : { entropy: { value: entropy, reduction: 'sum', ...present({ lacks: ofEntropy }) } }),
  };
}

const isDefault = (weights: unknown): boolean =>
  !Array.isArray(weights) || weights.every((weight) => weight === null);

/** What lies beside the export. */
interface Beside {
  readonly metrics: Metrics;
  readonly loss: LossSettings | null | undefined;
}

function stepOf(
  { own, absent }: Files,
  lines: readonly Line[],
  { metrics, loss: stated }: Beside,
): StepBatch {
  const placed = lines.map((line) => ({
    line,
    rank: numberAt(line, 'rank'),
    at: numberAt(line, 'micro_step'),
  }));
  const number = numberOf(lines[0]?.values.step);
  const ranks = [...new Set(placed.map(({ rank }) => rank))].sort((a, b) => a - b);
  const perRank = 1 + placed.reduce((most, { at }) => Math.max(most, at), 0);
  checkMicroBatches(own[0]!, ranks.length * perRank);
  const hasWeights = lines.some(({ values }) => !isWhole(values.rl_weights));
  const rows = placed.map(({ line, rank, at }) =>
    rowOf(line, ranks.indexOf(rank) * perRank + at, hasWeights),
  );
  const loss = stated === undefined ? inferredLoss(rows) : (stated ?? undefined);
  const gaps = ranks.flatMap((rank, at) => (rank === at ? [] : [at]));
  const missing = [...new Set([...absent, ...gaps.slice(0, 1)])].filter((rank) => !ranks.includes(rank));
  const step = stepOfRows(
    Number.isNaN(number) ? basename(dirname(own[0]!)) : `step ${number}`,
    {
      trainer: 'prime-rl',
      aggregation: { mode: 'token-mean', scope: 'global', counts: 'mask', rowCount: 'all' },
      dataParallelSize: ranks.length,
      microBatches: ranks.flatMap((rank) =>
        Array.from({ length: perRank }, (_, index) => ({ rank, index, pass: 0 })),
      ),
      // prime-rl undoes the mean over ranks of the gradients, and its loss has no factor of ranks.
      gradientReduction: 'sum',
      reported: reportedOf(metrics, lines, missing),
      ...present({
        optimizerStep: Number.isNaN(number) ? undefined : number,
        policyLoss: loss,
        rolloutCorrection: hasWeights ? LOSS_WEIGHTS : undefined,
      }),
    },
    rows,
  );
  const { rolloutLogProb } = step.tokens;
  const findings = missingRanks(missing);
  return {
    ...step,
    tokens: { ...step.tokens, ...present({ oldLogProb: rolloutLogProb }) },
    ...(findings.length === 0 ? {} : { findings }),
  };
}

function checkMicroBatches(file: string, count: number): void {
  if (count <= MAX_MICRO_BATCHES) return;
  const expected = `at most ${MAX_MICRO_BATCHES} micro-steps of all ranks`;
  throw new BatchFormatError({ code: 'too-large', file, field: 'micro_step', expected, found: `${count}` });
}

function missingRanks(missing: readonly number[]): Finding[] {
  if (missing.length === 0) return [];
  const names = missing.slice(0, 3).map((rank) => `rank_${rank}.jsonl`);
  const more = missing.length > 3 ? ` and ${missing.length - 3} more` : '';
  return [stepFinding('rank-file-missing', `There is no ${names.join(', ')}${more}.`)];
}

/** `rl_weights` multiply the whole loss of a token. They are the user's, and made of nothing that is recorded. */
const LOSS_WEIGHTS: CorrectionSettings = {
  level: 'token',
  statistic: 'ratio',
  action: 'unknown',
  appliesTo: 'policy',
  keptWeight: 'statistic',
};

/** Weights other than 0 and 1 scale the loss of a token. */
function isWhole(weights: unknown): boolean {
  return (
    !Array.isArray(weights) || weights.every((weight) => weight === null || weight === 0 || weight === 1)
  );
}

/** The number that a line must have. */
function numberAt({ file, row, values }: Line, key: string): number {
  const place = { file, field: `row ${row}, ${key}` };
  const number = numberIn(values[key], place);
  if (number !== undefined && Number.isInteger(number) && number >= 0 && number < MAX_INDEX) return number;
  const expected = `an integer from 0 to ${MAX_INDEX - 1}`;
  throw new BatchFormatError({ ...place, code: 'invalid', expected, found: String(values[key]) });
}

/** Ranks and micro-steps that a step may have. */
const MAX_INDEX = 2 ** 16;

const KINDS: Readonly<Record<string, ListKind>> = { loss_mask: 'flag', token_ids: 'integer' };

function rowOf(line: Line, microBatch: number, hasWeights: boolean): DumpRow {
  const { file, row, values } = line;
  const list = (key: string, kind: ListKind = 'number') =>
    numberList(values[key], kind, { file, field: `row ${row}, ${key}` });
  const weights = list('rl_weights');
  const lists = Object.fromEntries(Object.keys(COLUMNS).map((key) => [key, list(key, KINDS[key])]));
  checkLengths({ ...lists, rl_weights: weights }, { file, row });
  const own = Object.entries(COLUMNS).map(([from, to]) => [to, lists[from]]);
  const { mask, reportedClipped, ...rest }: Record<string, number[] | undefined> = Object.fromEntries(own);
  return {
    microBatch,
    columns: present({
      mask: mask?.map((flag, at) => (flag === 1 && weights?.[at] !== 0 ? 1 : 0)),
      // A weight of null is 1.
      rolloutWeight: hasWeights
        ? mask?.map((_, at) => (Number.isNaN(weights?.[at] ?? Number.NaN) ? 1 : weights![at]!))
        : undefined,
      // Flags of null are those of a loss that has none.
      reportedClipped: reportedClipped?.every((flag) => !Number.isNaN(flag))
        ? reportedClipped.map((flag) => (flag === 1 ? 1 : 0))
        : undefined,
      ...rest,
    }),
  };
}
