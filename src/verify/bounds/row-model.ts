/**
 * One estimator over one batch, as parts per row: which clusters, which values, which weights. The verdicts, the
 * explanation and the diagnosis all read this.
 */

import { clusterLevels } from '../../kernel/clusters.ts';
import { ESTIMATORS } from '../../kernel/estimators.ts';
import { firstRows } from '../../kernel/grpo.ts';
import type { StepColumns } from '../../kernel/steps.ts';
import { type Batch, type Forms, kernelParameters } from '../format/batch.ts';
import { bytesInWords, MAX_VERIFICATION_BYTES, verificationBytes } from '../pool/budget.ts';
import type { Combination, RowParts } from './admissible.ts';
import { boundAnyForm } from './any-form.ts';
import type { Arithmetic } from './arithmetic.ts';
import { type ClusterBounds, clusterBounds, emptyBounds } from './cluster-bounds.ts';
import { chooseInputs, type InputColumn, type Inputs } from './inputs.ts';
import { boundPart, boundSingle, emptyPart, type Norm, type Part, setPart } from './level-value.ts';

/** Clusters of one level with the bounds over them. `level` is k, or -1 for the whole group. */
export interface ModelLevel {
  readonly level: number;
  readonly cluster: Int32Array;
  /** The same for the rows that mean and deviation run over, -1 for others. */
  readonly members: Int32Array;
  readonly bounds: ClusterBounds;
  readonly input: InputColumn;
  /** Coefficient of the level before any normalisation. */
  readonly weight: number;
  /** True where a cluster of one row passes its value through (mean 0, deviation 1) instead of giving 0. */
  readonly rawSingleton: boolean;
  readonly norm: Norm;
}

export interface RowModel {
  readonly inputs: Inputs;
  readonly combination: Combination;
  readonly levels: readonly ModelLevel[];
  /** The true advantage of each row: the formula in float64 on the trainer's inputs. */
  readonly truth: Float64Array;
  readonly arithmetic: Arithmetic;
  /** Added to deviations, and to the sum of the weights. */
  readonly epsilon: number;
  readonly weightEpsilon: number;
  /** The parts of a row in the recipe's forms, or in any; valid until the next call. */
  parts(row: number, forms?: Forms): RowParts;
}

/** A model, or in words what the batch lacks for one. */
export type ModelOutcome = { readonly model: RowModel } | { readonly missing: string[] };

/** Tokens of a response where the batch does not say: the mean over tokens rounds once a token. */
const DEFAULT_TOKENS = 1024;

/**
 * Builds the model for the batch's own estimator. Throws a RangeError where that would take more than
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
  const { name } = batch.estimator;
  const observation = batch.observation ?? new Int32Array(batch.rows);
  const steps: StepColumns = {
    rows: batch.rows,
    group: batch.group,
    trajectory: batch.trajectory,
    observation,
  };
  const levels = name === 'hgpo' ? hgpoLevels(batch, steps, inputs) : episodeLevels(batch, steps, inputs);
  const truth = trueAdvantages(batch, steps, inputs);
  const combination: Combination = name === 'hgpo' ? 'weighted' : 'sum';
  return { model: { ...rowReader(batch, inputs, levels, combination), truth } };
}

/** The columns that the estimator needs and the batch lacks. */
function missingInputs(batch: Batch, inputs: Inputs): string[] {
  const { name, baseGroup } = batch.estimator;
  const missing: string[] = [];
  const steps = name === 'hgpo' || name === 'gigpo';
  if (steps && batch.observation === undefined) missing.push('observation');
  if (steps && inputs.stepReturn === undefined)
    missing.push('reported.stepReward (or reward and actionValid)');
  if (name !== 'hgpo' || baseGroup) {
    if (inputs.score === undefined) missing.push('tokenLevelRewardSum');
    else if (batch.estimator.statistics === 'trajectories' && !isPerTrajectory(batch, inputs.score.value))
      missing.push('one tokenLevelRewardSum for all rows of a trajectory');
  }
  return missing;
}

/** True where all rows of a trajectory have one value: else the batch does not say which of them counts. */
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

function trueAdvantages(batch: Batch, steps: StepColumns, inputs: Inputs): Float64Array {
  const column = (input: InputColumn | undefined): Float64Array => {
    if (input === undefined) throw new TypeError('the column is not in the batch');
    return input.stated ?? input.value;
  };
  return ESTIMATORS[batch.estimator.name](
    { steps, stepReturn: () => column(inputs.stepReturn), score: () => column(inputs.score) },
    kernelParameters(batch.estimator),
  );
}

function hgpoLevels(batch: Batch, steps: StepColumns, inputs: Inputs): ModelLevel[] {
  const { historyLength, lengthWeightAlpha, deviation, mode, baseGroup } = batch.estimator;
  const input = inputs.stepReturn as InputColumn;
  const levels: ModelLevel[] = clusterLevels(steps, historyLength).map(({ level, cluster, count }) => ({
    level,
    cluster,
    members: cluster,
    bounds: bound(cluster, count, input, deviation === 'sample' ? 'sample' : 'population', inputs),
    input,
    weight: (level + 2) ** lengthWeightAlpha,
    rawSingleton: false,
    norm: mode === 'mean_std_norm' ? 'deviation' : 'none',
  }));
  if (!baseGroup) return levels;
  return [
    groupLevel(batch, inputs, { norm: mode === 'mean_std_norm' ? 'deviation' : 'none', deviation: 'sample' }),
    ...levels,
  ];
}

function episodeLevels(batch: Batch, steps: StepColumns, inputs: Inputs): ModelLevel[] {
  const { name, mode, normalizeByStd, stepAdvantageWeight, deviation } = batch.estimator;
  const kind = deviation === 'population' ? 'population' : 'sample';
  const divided = name === 'grpo' ? normalizeByStd : name === 'gigpo' && mode === 'mean_std_norm';
  const own: Norm = divided ? 'deviation' : 'none';
  const norm: Norm = name === 'rloo' ? 'leave-one-out' : own;
  const whole = groupLevel(batch, inputs, { norm, deviation: kind });
  if (name !== 'gigpo') return [whole];
  const input = inputs.stepReturn as InputColumn;
  const [states] = clusterLevels(steps, 0);
  if (states === undefined) return [whole];
  const bounds = bound(states.cluster, states.count, input, kind, inputs);
  const weight = stepAdvantageWeight;
  const { cluster } = states;
  return [whole, { level: 0, cluster, members: cluster, bounds, input, weight, rawSingleton: false, norm }];
}

function groupLevel(
  batch: Batch,
  inputs: Inputs,
  { norm, deviation }: { norm: Norm; deviation: 'population' | 'sample' },
): ModelLevel {
  const input = inputs.score as InputColumn;
  const count = batch.groupNames.length;
  const members = batch.estimator.statistics === 'trajectories' ? oncePerTrajectory(batch) : batch.group;
  const bounds = bound(members, count, input, deviation, inputs);
  return { level: -1, cluster: batch.group, members, bounds, input, weight: 1, rawSingleton: true, norm };
}

/** The group of the first row of each trajectory, -1 for the rows after it. */
function oncePerTrajectory({ group, trajectory }: Batch): Int32Array {
  const counted = firstRows(group, trajectory);
  return group.map((g, row) => (counted[row] === 1 ? g : -1));
}

function bound(
  cluster: Int32Array,
  count: number,
  input: InputColumn,
  deviation: 'population' | 'sample',
  inputs: Inputs,
): ClusterBounds {
  return clusterBounds(
    { cluster, count, value: input.value, valueError: input.error, rounding: input.rounding },
    deviation,
    inputs.arithmetic,
  );
}

function rowReader(
  batch: Batch,
  inputs: Inputs,
  levels: readonly ModelLevel[],
  combination: Combination,
): Omit<RowModel, 'truth'> {
  const { epsilon, name, baseGroup } = batch.estimator;
  const { arithmetic } = inputs;
  const pool = levels.map((level) => emptyPart(level.bounds));
  const wide = levels.map(() => emptyBounds(1, arithmetic));
  return {
    inputs,
    combination,
    levels,
    arithmetic,
    epsilon,
    weightEpsilon: epsilon,
    parts(row, forms = 'recipe') {
      const parts: Part[] = [];
      for (let i = 0; i < levels.length; i++) {
        const level = levels[i]!;
        const cluster = level.cluster[row]!;
        if (cluster < 0) continue;
        if (!level.rawSingleton && level.bounds.size[cluster]! < 2) continue;
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
        part.epsilon = epsilon;
        part.extra =
          baseGroup && level.level === -1 && name === 'hgpo' ? overTokens(batch, row, arithmetic) : 0;
        if (part.extra > 0 && batch.responseLength?.[row] === 0) setPart(part, 0, 0);
        else if (level.rawSingleton && part.bounds.size[part.cluster] === 1) boundSingle(part);
        else boundPart(part);
        parts.push(part);
      }
      return { parts, combination, weightEpsilon: epsilon, arithmetic };
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
