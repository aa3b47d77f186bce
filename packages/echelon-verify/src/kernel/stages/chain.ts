/**
 * Formulas as chains of stages: subtract a mean, divide by a deviation, clip. Each stage maps one column of a batch to
 * the next. The estimators of most trainers are such chains. The derivation of the bounds is in docs/explanation/error-bounds.md,
 * "Chains of stages".
 */

import { type Arithmetic, EXACT, type Forms } from '../../arithmetic/arithmetic.ts';
import { type InputColumn, type IntervalColumn, startOf, weightedSum } from '../../arithmetic/interval.ts';
import { standInsOf, trajectoryMeans } from '../sets/row-sets.ts';
import { checkLength } from '../sets/steps.ts';
import type { DivideByDeviation } from './divide-by-deviation.ts';
import type { Chain, ChainRules, MissingRule } from './stage.ts';
import { runStage, type Stage } from './table.ts';
import type { TokenSequences } from './token-sequences.ts';

/** A formula as a chain. */
export interface StagePlan extends ChainRules {
  readonly stages: readonly Stage[];
  /** Stages that each reward column passes on its own. The chain then starts with their weighted sum. */
  readonly perReward?: readonly Stage[];
}

/** The values of one reward function, NaN for a row that it did not score. */
export interface RewardColumn {
  readonly name: string;
  readonly weight: number;
  readonly value: Float64Array;
}

/** What a chain reads. `tokens` and `rewards` are called only if a stage needs them. */
interface ChainInput<V, R> {
  readonly group: Int32Array;
  /** For statistics over trajectories. */
  readonly trajectory?: Int32Array | undefined;
  score(): V;
  tokens(): Int32Array;
  rewards(): readonly R[];
  /** The chain runs over tokens, one entry of each column per token. Only tokens of the mask count. */
  readonly sequences?: TokenSequences<V>;
}

/** The numbers that a chain reads. */
export type StageInput = ChainInput<Float64Array, RewardColumn>;

/** What the bounds read: what is known of the trainer's numbers. */
export interface StageBoundsInput extends ChainInput<InputColumn, WeightedInput> {
  /** Of sums over tokens, and of means and deviations over rows; the other stages admit any form. */
  readonly forms?: Forms;
}

interface WeightedInput {
  readonly weight: number;
  readonly column: InputColumn;
}

/** One stage of a chain with the column that it gives. */
export interface BoundedStage {
  readonly stage: Stage;
  readonly column: IntervalColumn;
}

/** The last column of a chain, and the columns on the way. */
export interface StageBounds {
  readonly column: IntervalColumn;
  readonly trace: readonly BoundedStage[];
  /** 1 for rows of which nothing can be said: a sum may leave the range, or a divisor may be 0. */
  readonly overflow: Uint8Array;
}

/** Evaluates a chain in float64: one value per row. Throws a RangeError on unequal columns and too large groups. */
export function runStages(plan: StagePlan, input: StageInput): Float64Array {
  const { sequences, trajectory } = input;
  const isMean = plan.statistics === 'trajectory-mean';
  const { column } = boundStages(
    plan,
    {
      ...input,
      score: () => ({ value: isMean ? trajectoryMeans(input.score(), trajectory) : input.score() }),
      rewards: () => input.rewards().map(({ weight, value }) => ({ weight, column: { value } })),
      ...(sequences && {
        sequences: { ...sequences, column: (name) => ({ value: sequences.column(name) }) },
      }),
    } as StageBoundsInput,
    EXACT,
  );
  return column.value;
}

/**
 * Evaluates a chain in float64, and bounds every stage for an arithmetic. Linear in the rows, but for stages with `others`. Throws as
 * {@link runStages} does.
 */
export function boundStages(plan: StagePlan, input: StageBoundsInput, arithmetic: Arithmetic): StageBounds {
  const { perReward, stages } = plan;
  const context = { input, arithmetic };
  if (perReward === undefined) return boundChain(stages, plan, context, startOf(input.score()));
  const rewards = input.rewards();
  // A reward that a function did not give enters no statistic of that function, in any trainer that allows it.
  const missing = plan.missing === 'propagate' ? 'propagate' : 'exclude';
  const parts = rewards.map(({ column }) =>
    boundChain(perReward, { ...plan, missing }, context, startOf(column)),
  );
  const sum = weightedSum(
    parts.map(({ column }, k) => ({ column, weight: rewards[k]!.weight })),
    input.group.length,
    arithmetic,
  );
  if (plan.missing !== 'propagate') markUnscored(sum.value, rewards);
  const whole = boundChain(stages, plan, context, sum);
  for (const { overflow } of parts) {
    for (let row = 0; row < overflow.length; row++) if (overflow[row] === 1) whole.overflow[row] = 1;
  }
  return whole;
}

/** A row that no function scored has no sum. */
function markUnscored(sum: Float64Array, rewards: readonly WeightedInput[]): void {
  for (let row = 0; row < sum.length; row++) {
    if (rewards.every(({ column }) => Number.isNaN(column.value[row]!))) sum[row] = Number.NaN;
  }
}

interface Context {
  readonly input: StageBoundsInput;
  readonly arithmetic: Arithmetic;
}

function boundChain(
  stages: readonly Stage[],
  rules: ChainRules,
  context: Context,
  given: IntervalColumn,
): StageBounds {
  const { input, arithmetic } = context;
  checkLength('score', given.value, input.group.length);
  const { scores, counted } = applyMissing(rules.missing, given, input.sequences?.mask);
  const overflow = new Uint8Array(counted.length);
  const chain: Chain = {
    rules,
    group: input.group,
    tokens: input.tokens,
    sequences: input.sequences && intervals(input.sequences),
    arithmetic,
    isExact: arithmetic === EXACT,
    forms: input.forms ?? 'any',
    scores,
    counted,
    standIn: standInsOf(rules, input),
    overflow,
    deviation: stages.find(isDivision)?.deviation ?? 'population',
  };
  const trace: BoundedStage[] = [];
  let column = scores;
  for (const stage of stages) {
    column = runStage(stage, chain, column);
    trace.push({ stage, column });
  }
  for (let row = 0; row < overflow.length && !chain.isExact; row++) {
    const size = Math.max(Math.abs(column.low[row]!), Math.abs(column.high[row]!));
    if (size >= arithmetic.overflow) overflow[row] = 1;
  }
  const value = rules.missing === 'exclude' ? column.value.map(asNumber) : column.value.slice();
  return { column: { ...column, value }, trace, overflow };
}

function isDivision(stage: Stage): stage is DivideByDeviation {
  return stage.do === 'divide-by-deviation';
}

/** The responses, each column as intervals. */
function intervals({ column, ...tokens }: TokenSequences<InputColumn>): TokenSequences<IntervalColumn> {
  return { ...tokens, column: (name) => startOf(column(name)) };
}

/** NaN as 0 and infinities as the largest numbers of float32: torch's `nan_to_num`, by which trainers exclude rows. */
function asNumber(x: number): number {
  return Number.isNaN(x) ? 0 : Math.min(Math.max(x, -MAX_FLOAT32), MAX_FLOAT32);
}

const MAX_FLOAT32 = 2 ** 128 - 2 ** 104;

/** The scores by the rule for NaN, and the rows that statistics count: at most those of the mask. */
export function applyMissing(
  missing: MissingRule,
  given: IntervalColumn,
  mask?: Uint8Array,
): { scores: IntervalColumn; counted: Uint8Array } {
  const { value: from, low, high } = given;
  const counted = mask?.slice() ?? new Uint8Array(from.length).fill(1);
  if (missing === 'propagate' || !hasNaN(from)) return { scores: given, counted };
  const value = from.map((x) => (Number.isNaN(x) ? 0 : x));
  const ends = (end: Float64Array) => end.map((x, row) => (Number.isNaN(from[row]!) ? 0 : x));
  if (missing === 'exclude')
    for (let row = 0; row < from.length; row++) counted[row] = Number.isNaN(from[row]!) ? 0 : 1;
  return { scores: { value, low: ends(low), high: ends(high) }, counted };
}

function hasNaN(column: Float64Array): boolean {
  for (let row = 0; row < column.length; row++) if (Number.isNaN(column[row]!)) return true;
  return false;
}
