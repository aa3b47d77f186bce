/**
 * prime-rl with `trainer.enable_token_export`: `token_exports/step_N/rank_R.jsonl`, a packed sequence a line. Its loss has no old
 * policy: the ratio is that of the trainer and the rollout engine. A step is the files of all its ranks. Sequences without a
 * trained token are not exported; they add nothing to the denominator.
 */

import { basename, dirname } from 'node:path';
import { pickedLines } from '../../../format/dumps/records.ts';
import { numberOf } from '../../../format/dumps/rewards.ts';
import { openSource } from '../../../format/dumps/source.ts';
import { groupedBy } from '../../../grouped-by.ts';
import { present } from '../../../present.ts';
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
const SELECTION = selectionOf([...Object.keys(COLUMNS), 'step', 'rank', 'micro_step', 'rl_weights']);
type Line = Readonly<Record<string, unknown>>;

/** See the head of this file. */
export const PRIME_RL_TOKENS: StepAdapter = {
  name: 'prime-rl-tokens',
  title: 'prime-rl token exports (JSON lines)',
  columns: COLUMNS,
  states: ['optimizerStep', 'policyLoss', 'aggregation'],
  matches: ({ keys }) =>
    ['token_ids', 'trainer_logprobs', 'inference_logprobs', 'micro_step'].every((key) => keys?.has(key)),
  async *steps(files) {
    for (const own of groupedBy(files, dirname).values()) {
      const lines: Line[] = [];
      for (const file of own) {
        await using source = await openSource(file);
        for await (const line of pickedLines(source, SELECTION)) lines.push(line as Line);
      }
      yield { file: own.length === 1 ? own[0]! : dirname(own[0]!), step: stepOf(own[0]!, lines) };
    }
  },
};

function stepOf(file: string, lines: readonly Line[]) {
  const number = numberOf(lines[0]?.step);
  const ranks = [...new Set(lines.map(({ rank }) => numberOf(rank)))].sort((a, b) => a - b);
  const perRank = 1 + Math.max(0, ...lines.map(({ micro_step: at }) => numberOf(at)));
  // The thresholds of the loss are prime-rl's defaults; the gradient coefficients, which would show others, are not exported.
  const isDefault = lines.every((line) => isWhole(line.rl_weights) && Array.isArray(line.is_masked));
  const step = stepOfRows(
    Number.isNaN(number) ? basename(dirname(file)) : `step ${number}`,
    {
      trainer: 'prime-rl',
      aggregation: { mode: 'token-mean', scope: 'global', counts: 'mask', rowCount: 'all' },
      dataParallelSize: ranks.length,
      microBatches: ranks.flatMap((rank) =>
        Array.from({ length: perRank }, (_, index) => ({ rank, index, pass: 0 })),
      ),
      reported: {},
      ...present({
        optimizerStep: Number.isNaN(number) ? undefined : number,
        policyLoss: isDefault ? { name: 'prime-rl', params: {} } : undefined,
      }),
    },
    lines.map((line) => rowOf(line, ranks, perRank)),
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
      reportedClipped: reportedClipped?.map((flag) => (flag === 1 ? 1 : 0)),
      ...rest,
    }),
  };
}
