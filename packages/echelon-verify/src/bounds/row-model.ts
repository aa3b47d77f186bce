/**
 * One estimator over one batch, as parts per row: which clusters, which values, which weights. The outcomes, the
 * explanation and the diagnosis all read this.
 */

import type { Forms } from '../arithmetic/arithmetic.ts';
import { type Arithmetic, FLOAT16, FLOAT64 } from '../arithmetic/arithmetic.ts';
import type { InputColumn } from '../arithmetic/interval.ts';
import { present } from '../base/present.ts';
import { type Batch, isPerToken, usesOf } from '../format/batch.ts';
import { bytesInWords, MAX_VERIFICATION_BYTES, verificationBytes } from '../format/budget.ts';
import { clusterLevels } from '../kernel/clusters.ts';
import type {
  Combination,
  ContextTerms,
  Derived,
  DerivedColumn,
  EstimatorInput,
  GroupTerm,
  Norm,
  RowFormula,
} from '../kernel/estimators/estimator.ts';
import { evaluate } from '../kernel/estimators/evaluate.ts';
import { estimatorOf } from '../kernel/estimators/registry.ts';
import { tokenStageInput } from '../kernel/estimators/token-chain.ts';
import { boundAnyForm } from '../kernel/sets/any-form.ts';
import {
  type ClusterBounds,
  clusterBounds,
  emptyBounds,
  type LazyClusterBounds,
  lazyClusterBounds,
} from '../kernel/sets/cluster-bounds.ts';
import { membersOf, standInsOf } from '../kernel/sets/row-sets.ts';
import type { Deviation } from '../kernel/sets/spread.ts';
import type { StepColumns } from '../kernel/sets/steps.ts';
import type { BoundedStage, StageBoundsInput, StagePlan } from '../kernel/stages/chain.ts';
import { boundStages } from '../kernel/stages/chain.ts';
import { perToken, type TokenInputName, type TokenSequences } from '../kernel/stages/token-sequences.ts';
import type { RowParts } from './admissible.ts';
import { termOfChain } from './chain-term.ts';
import { chooseInputs, type Inputs } from './inputs.ts';
import { boundPart, boundSingle, emptyPart, type Part, setPart } from './level-value.ts';

/** Clusters of one level with the bounds over them. `level` is k, -1 for the scores of the whole group, -2 for another column of it. */
export interface ModelLevel {
  readonly level: number;
  readonly cluster: Int32Array;
  /** The same for the rows that mean and deviation run over, -1 for others. */
  readonly members: Int32Array;
  readonly bounds: ClusterBounds;
  /** Fills in the bounds of a cluster: until then only sizes, true means and true deviations are there. */
  fill(cluster: number): void;
  readonly input: InputColumn;
  /** What the values are, in words. */
  readonly valueName: string;
  /** Relative rounding of the part from a wider format. */
  readonly narrowing: number;
  /** Coefficient of the level before any normalisation. */
  readonly weight: number;
  /** True if a cluster of one row passes its value through (mean 0, deviation 1) instead of giving 0. */
  readonly rawSingleton: boolean;
  readonly norm: Norm;
  /** A deviation that is not above this gives 0. */
  readonly guardAbove?: number | undefined;
  /** The trainer spreads the part over the tokens of the response and averages it again. */
  readonly overTokens: boolean;
}

export interface RowModel {
  readonly inputs: Inputs;
  readonly combination: Combination;
  readonly levels: readonly ModelLevel[];
  /** The true advantage of each row, or of each token: the formula in float64 on the trainer's inputs. */
  readonly truth: Float64Array;
  /** The estimator has one advantage per token: rows of the model are tokens of the batch. */
  readonly isPerToken?: boolean;
  readonly arithmetic: Arithmetic;
  /** Added to deviations, and to the sum of the weights. */
  readonly epsilon: number;
  readonly weightEpsilon: number;
  /** The stages of an estimator that is a chain of them. Its levels describe the groups only. */
  readonly stages?: readonly BoundedStage[];
  /** The parts of a row in the recipe's forms, or in any; valid until the next call. */
  parts(row: number, forms?: Forms): RowParts;
}

/** A model, or in words what the batch lacks for one, or what has no error bounds. */
export type ModelOutcome =
  | { readonly model: RowModel }
  | { readonly missing: string[] }
  | { readonly unbounded: string };

/** Tokens of a response if the batch does not say: the mean over tokens rounds once a token. */
const DEFAULT_TOKENS = 1024;

/**
 * Builds the model for the batch's own estimator. Throws a RangeError if that would take more than
 * {@link MAX_VERIFICATION_BYTES} of memory.
 */
export function createRowModel(batch: Batch): ModelOutcome {
  const bytes = verificationBytes(batch);
  if (bytes > MAX_VERIFICATION_BYTES) {
    throw new RangeError(
      `it takes about ${bytesInWords(bytes)} of memory, ${bytesInWords(MAX_VERIFICATION_BYTES)} are allowed`,
    );
  }
  const inputs = chooseInputs(batch);
  const missing = missingInputs(batch, inputs);
  if (missing.length > 0) return { missing };
  const { name, params } = batch.estimator;
  const plan = estimatorOf(name).rowPlan(params);
  if ('unbounded' in plan) return plan;
  if ('terms' in plan) return { model: termModel(batch, inputs, plan) };
  const term = termOfChain(plan);
  if (term !== undefined) return { model: termModel(batch, inputs, term) };
  // An ε such as 1e-8 and squares of small numbers leave its range: relative bounds do not hold.
  if (inputs.arithmetic === FLOAT16) return { unbounded: 'each step rounded to float16' };
  return { model: stageModel(batch, inputs, plan) };
}

function termModel(batch: Batch, inputs: Inputs, formula: RowFormula): RowModel {
  const derived = derivedColumns(batch, inputs);
  const levels = formula.terms.flatMap((term) =>
    term.over === 'group'
      ? [groupLevel(batch, groupColumn(batch, columnOf(inputs, derived, term), term), term)]
      : contextLevels(stepsOf(batch), columnOf(inputs, derived, term), term),
  );
  return { ...rowReader(batch, inputs, levels, formula), truth: trueAdvantages(batch, inputs) };
}

function stepsOf({ rows, group, trajectory, observation }: Batch): StepColumns {
  return { rows, group, trajectory, observation: observation ?? new Int32Array(rows) };
}

/** The columns that the estimator needs and the batch lacks. */
function missingInputs(batch: Batch, inputs: Inputs): string[] {
  const uses = usesOf(batch.estimator);
  const missing: string[] = [];
  if (uses.observation && batch.observation === undefined) missing.push('observation');
  if (uses.nextObservation === true && batch.nextObservation === undefined) missing.push('nextObservation');
  for (const column of uses.environment ?? []) if (batch[column] === undefined) missing.push(column);
  if (uses.stepReturn && inputs.stepReturn === undefined)
    missing.push('reported.stepReward (or reward and actionValid)');
  if (uses.score) {
    if (inputs.score === undefined) missing.push('tokenLevelRewardSum');
    else if (uses.scoresOver === 'trajectories' && !isPerTrajectory(batch, inputs.score.value))
      missing.push('one tokenLevelRewardSum for all rows of a trajectory');
  }
  if (uses.rewardBaseline === true && batch.rewardBaseline === undefined) missing.push('rewardBaseline');
  if (uses.responseLength === true && batch.responseLength === undefined) missing.push('responseLength');
  if (uses.rewards === true && inputs.rewards === undefined) missing.push('rewards');
  for (const column of uses.tokens === undefined ? [] : (['mask', ...uses.tokens] as const)) {
    if (batch.tokens?.[column] === undefined) missing.push(`tokens.${column}`);
  }
  return missing;
}

/** True if all rows of a trajectory have one value: else the batch does not say which of them counts. */
function isPerTrajectory({ trajectory, trajectoryNames }: Batch, value: Float64Array): boolean {
  const own = new Float64Array(trajectoryNames.length);
  const seen = new Uint8Array(own.length);
  return value.every((x, row) => {
    const t = trajectory[row]!;
    if (seen[t] === 0) own[t] = x;
    seen[t] = 1;
    return Object.is(own[t], x);
  });
}

/** The formula in float64 on the trainer's inputs, of a batch that lacks nothing. */
export function trueAdvantages(batch: Batch, inputs: Inputs): Float64Array {
  const { name, params } = batch.estimator;
  return evaluate(estimatorOf(name), estimatorInput(batch, inputs), params);
}

function estimatorInput(batch: Batch, inputs: Inputs): EstimatorInput {
  const column = (input: InputColumn | undefined): Float64Array => {
    const { stated, value } = given(input);
    return stated ?? value;
  };
  return {
    steps: stepsOf(batch),
    stepReturn: () => column(inputs.stepReturn),
    score: () => column(inputs.score),
    responseLength: () => given(batch.responseLength),
    rewards: () => given(batch.rewards),
    environment: () => ({ ...batch, reward: given(batch.reward) }),
    tokens: () => ({
      ...responsesOf(batch),
      column: (name) => {
        const values = column(sourceOf(inputs, name));
        return name === 'rewardBaseline' ? perToken(given(batch.tokens).offset, values) : values;
      },
    }),
  };
}

function responsesOf({ tokens, group }: Batch): Omit<TokenSequences, 'column'> {
  const { offset, mask } = given(tokens);
  return { offset, mask: given(mask), group };
}

function sourceOf({ tokens, rewardBaseline }: Inputs, name: TokenInputName): InputColumn | undefined {
  return name === 'rewardBaseline' ? rewardBaseline : tokens[name];
}

/** What `missingInputs` has found to be there. */
function given<T>(column: T | undefined): T {
  if (column === undefined) throw new TypeError('the column is not in the batch');
  return column;
}

/** A chain of stages: one part per row, the last stage's interval. The level describes the groups. */
function stageModel(batch: Batch, inputs: Inputs, plan: StagePlan): RowModel {
  const { arithmetic } = inputs;
  const perToken = isPerToken(batch);
  const input = perToken ? tokenBoundsInput(batch, inputs) : rowBoundsInput(batch, inputs, plan);
  const { column, trace, overflow } = boundStages(plan, input, arithmetic);
  const { statistics = 'rows' } = plan;
  const groups = { over: 'group', norm: 'none', deviation: 'sample', statistics } as const;
  const singleton = plan.singleton === 'raw' ? 'raw' : 'zero';
  const levels =
    inputs.score === undefined || perToken
      ? []
      : [
          groupLevel(batch, columnOf(inputs, {}, { over: 'group' }), {
            ...groups,
            singleton,
            weight: 1,
            overTokens: false,
          }),
        ];
  const bounds = emptyBounds(1, arithmetic);
  bounds.size[0] = 1;
  const part = emptyPart(bounds);
  part.level = -1;
  return {
    inputs,
    combination: 'sum',
    levels,
    arithmetic,
    epsilon: 0,
    weightEpsilon: 0,
    stages: trace,
    truth: column.value,
    isPerToken: perToken,
    parts(row) {
      bounds.overflow[0] = overflow[row]!;
      setPart(part, column.low[row]!, column.high[row]!);
      return { parts: [part], combination: 'sum', weightEpsilon: 0, arithmetic };
    },
  };
}

function rowBoundsInput(batch: Batch, inputs: Inputs, { statistics }: StagePlan): StageBoundsInput {
  const score = (): InputColumn => given(inputs.score);
  const isMean = statistics === 'trajectory-mean';
  return {
    group: batch.group,
    trajectory: batch.trajectory,
    score: () => (isMean ? trajectoryColumn(batch, score(), inputs.arithmetic) : score()),
    tokens: () => given(batch.responseLength),
    rewards: () => given(inputs.rewards),
    ...present({ forms: batch.estimator.forms }),
  };
}

function tokenBoundsInput(batch: Batch, inputs: Inputs): StageBoundsInput {
  const sequences = responsesOf(batch);
  const column = (name: TokenInputName): InputColumn => {
    const own = given(sourceOf(inputs, name));
    if (name !== 'rewardBaseline') return own;
    const spread = (values: Float64Array | undefined) => values && perToken(sequences.offset, values);
    const { value, error, stated, rounding } = own;
    return {
      value: spread(value)!,
      error: spread(error),
      stated: spread(stated),
      rounding: spread(rounding),
    };
  };
  return { ...tokenStageInput({ ...sequences, column }), ...present({ forms: batch.estimator.forms }) };
}

function contextLevels(steps: StepColumns, of: TermColumn, terms: ContextTerms): ModelLevel[] {
  const { deviation, norm } = terms;
  const within = terms.overBatch === true ? { ...steps, group: new Int32Array(steps.rows) } : steps;
  return clusterLevels(within, terms.historyLength).map(({ level, cluster, count }) => ({
    level,
    cluster,
    members: cluster,
    ...bound(cluster, count, of, deviation),
    ...of,
    weight: terms.weight(level),
    rawSingleton: norm === 'raw',
    norm,
    guardAbove: terms.guardAbove,
    overTokens: false,
  }));
}

function groupLevel(batch: Batch, of: TermColumn, term: GroupTerm): ModelLevel {
  const { weight, norm, overTokens } = term;
  const members = membersOf(batch.group, standInsOf(term, batch));
  return {
    level: term.of === undefined ? -1 : -2,
    cluster: batch.group,
    members,
    ...bound(members, batch.groupNames.length, of, term.deviation),
    ...of,
    weight,
    rawSingleton: term.singleton === 'raw' || norm === 'raw',
    norm,
    guardAbove: term.guardAbove,
    overTokens,
  };
}

/** The column of a group term: that of its rows, or the means of their trajectories. */
function groupColumn(
  batch: Batch,
  of: TermColumn,
  { statistics }: Pick<GroupTerm, 'statistics'>,
): TermColumn {
  if (statistics !== 'trajectory-mean') return of;
  return { ...of, input: trajectoryColumn(batch, of.input, of.arithmetic) };
}

/** The mean of each row's trajectory, as the trainer's arithmetic may give it. */
function trajectoryColumn(
  { trajectory: cluster, trajectoryNames }: Batch,
  { value, error: valueError, rounding }: InputColumn,
  arithmetic: Arithmetic,
): InputColumn {
  const count = trajectoryNames.length;
  const bounds = clusterBounds({ cluster, count, value, valueError, rounding }, 'sample', arithmetic);
  const any = emptyBounds(1, arithmetic);
  const ofAny = bounds.mean.map((mean, t) => {
    boundAnyForm(bounds, t, any);
    return any.meanError[0]! + Math.abs(any.mean[0]! - mean);
  });
  return {
    value: Float64Array.from(cluster, (t) => bounds.mean[t]!),
    error: Float64Array.from(cluster, (t) => bounds.meanError[t]!),
    stated: Float64Array.from(cluster, (t) => bounds.trueMean[t]!),
    rounding: Float64Array.from(cluster, (t) => ofAny[t]!),
  };
}

/** The column that a term is over, and the arithmetic of the term. */
interface TermColumn extends Pick<ModelLevel, 'input' | 'valueName' | 'narrowing'> {
  readonly arithmetic: Arithmetic;
}

function derivedColumns(batch: Batch, inputs: Inputs): Readonly<Record<string, DerivedColumn>> {
  const { name, params } = batch.estimator;
  return estimatorOf(name).columns?.(estimatorInput(batch, inputs), params) ?? {};
}

function columnOf(
  inputs: Inputs,
  derived: Readonly<Record<string, DerivedColumn>>,
  { over, of, isDouble }: Pick<GroupTerm | ContextTerms, 'over'> & Derived,
): TermColumn {
  const isWider = isDouble === true && inputs.arithmetic.unit > FLOAT64.unit;
  const arithmetic = isWider ? FLOAT64 : inputs.arithmetic;
  const narrowing = isWider ? inputs.arithmetic.unit : 0;
  if (of !== undefined)
    return { input: roundedTo(arithmetic, given(derived[of])), valueName: of, arithmetic, narrowing };
  const isScore = over === 'group';
  const input = given(isScore ? inputs.score : inputs.stepReturn);
  return { input, valueName: isScore ? 'score' : 'return', arithmetic, narrowing };
}

/** The numbers that a derived column has in a format, most of them known to the last digit. */
function roundedTo({ round }: Arithmetic, { value, error, rounding }: DerivedColumn): InputColumn {
  const rounded = value.map(round);
  const off = (row: number, by: number): number =>
    Math.max(round(value[row]! + by) - rounded[row]!, rounded[row]! - round(value[row]! - by));
  return {
    value: rounded,
    error: error.map((by, row) => off(row, by)),
    rounding: rounding.map((by, row) => (by === 0 ? 0 : off(row, by + error[row]!))),
  };
}

function bound(
  cluster: Int32Array,
  count: number,
  { input, arithmetic }: TermColumn,
  deviation: Deviation,
): LazyClusterBounds {
  const { value, error: valueError, rounding } = input;
  return lazyClusterBounds({ cluster, count, value, valueError, rounding }, deviation, arithmetic);
}

function rowReader(
  batch: Batch,
  inputs: Inputs,
  levels: readonly ModelLevel[],
  { combination, epsilon, weightEpsilon }: RowFormula,
): Omit<RowModel, 'truth'> {
  const { arithmetic } = inputs;
  const pool = levels.map((level) => emptyPart(level.bounds));
  const wide = levels.map(({ bounds }) => emptyBounds(1, bounds.arithmetic));
  return {
    inputs,
    combination,
    levels,
    arithmetic,
    epsilon,
    weightEpsilon,
    parts(row, forms = 'recipe') {
      const parts: Part[] = [];
      for (let i = 0; i < levels.length; i++) {
        const level = levels[i]!;
        const cluster = level.cluster[row]!;
        if (cluster < 0) continue;
        if (!level.rawSingleton && level.bounds.size[cluster]! < 2) continue;
        level.fill(cluster);
        const part = pool[i]!;
        part.anyForm = forms === 'any';
        part.level = level.level;
        part.weight = level.weight;
        part.value = level.input.value[row]!;
        part.valueError = level.input.error?.[row] ?? 0;
        part.bounds = level.bounds;
        part.cluster = cluster;
        if (part.anyForm) widen(part, row, level, wide[i]!);
        part.norm = level.norm;
        part.guardAbove = level.guardAbove;
        part.epsilon = epsilon;
        part.extra = level.narrowing + (level.overTokens ? overTokens(batch, row, arithmetic) : 0);
        if (level.overTokens && batch.responseLength?.[row] === 0) setPart(part, 0, 0);
        else if (level.rawSingleton && part.bounds.size[part.cluster] === 1) boundSingle(part);
        else boundPart(part);
        parts.push(part);
      }
      return { parts, combination, weightEpsilon, arithmetic };
    },
  };
}

/** Replaces the part's bounds by those of any form, in `into`. */
function widen(part: Part, row: number, level: ModelLevel, into: ClusterBounds): void {
  boundAnyForm(level.bounds, part.cluster, into);
  part.valueError += level.input.rounding?.[row] ?? 0;
  part.bounds = into;
  part.cluster = 0;
}

/** The base advantage is spread over the tokens and averaged again: one rounding per token, product and division. */
function overTokens(batch: Batch, row: number, { unit }: Arithmetic): number {
  return ((batch.responseLength?.[row] ?? DEFAULT_TOKENS) + 3) * unit;
}
