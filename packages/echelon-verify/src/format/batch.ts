import type { Forms, Precision } from '../arithmetic/arithmetic.ts';
import type { Uses } from '../kernel/estimators/estimator.ts';
import { fingerprint } from '../kernel/estimators/fingerprint.ts';
import { type AnyParameters, completeParameters } from '../kernel/estimators/parameters.ts';
import type { EstimatorName, EstimatorParameters } from '../kernel/estimators/registry.ts';
import { estimatorOf } from '../kernel/estimators/registry.ts';
import type { StepColumns } from '../kernel/sets/steps.ts';
import type { RewardColumn } from '../kernel/stages/chain.ts';
import type { TokenColumnName } from '../kernel/stages/token-sequences.ts';
import { BatchFormatError } from './format-error.ts';

/** Rows that a batch may have at most. */
export const MAX_ROWS = 2 ** 24;

/** Tokens that a batch may have at most. */
export const MAX_TOKENS = 2 ** 26;

/** The tokens of a batch: those of row i are `offset[i]` to `offset[i + 1] - 1`. Other columns have one entry per token. */
export interface TokenColumns extends Readonly<Partial<Record<TokenColumnName, Float64Array>>> {
  /** One entry more than there are rows, from 0, never less than the one before. */
  readonly offset: Int32Array;
  /** 0 for tokens that are not trained. */
  readonly mask?: Uint8Array;
  /** Token-level rewards, with every term that the trainer adds before the estimator. */
  readonly reward?: Float64Array;
  /** What the critic gave. */
  readonly value?: Float64Array;
  /** Log-probability π of the token under the policy that the estimator saw as the old one. */
  readonly logProb?: Float64Array;
  /** Σ π² over the vocabulary. */
  readonly squaredProbabilities?: Float64Array;
  /** Weight of the rollout correction. */
  readonly rolloutWeight?: Float64Array;
  /** As the trainer computed it: float32 values, widened. Ignored outside the mask. */
  readonly reportedAdvantage?: Float64Array;
}

/** The estimator that the trainer states to have used. */
export interface BatchEstimator<N extends EstimatorName = EstimatorName> {
  readonly name: N;
  readonly params: EstimatorParameters[N];
  /** Stated parameters of other estimators: they count if the batch is estimated by one of those. */
  readonly others?: AnyParameters;
  readonly gamma: number;
  readonly invalidActionPenalty: number;
  /** The arithmetic of the reported columns. */
  readonly precision: Precision;
  /** The algebraic forms of the formula that the trainer may have evaluated. Omitted: `any`. */
  readonly forms?: Forms;
}

/**
 * What a trainer did to the rows before it computed the advantages: it added copies of some, put them in another order, or
 * both. The copies enter every statistic.
 */
export const PREPARATIONS = ['padded', 'balanced', 'padded-balanced'] as const;

/** Where a batch comes from. A field is present only if the producer states it. */
export interface BatchProvenance {
  readonly experiment?: string;
  readonly attempt?: number;
  readonly trainingStep?: number;
  /** Trajectories per group. */
  readonly groupSize?: number;
  readonly groups?: number;
  /** Rows that the rollout collected. */
  readonly rowsCollected?: number;
  /** See {@link PREPARATIONS}. Omitted: the rows are those of the rollout, in its order. */
  readonly preparation?: (typeof PREPARATIONS)[number];
  readonly producer?: string;
}

/** The distinct observations of a batch, in the order of their ids. */
export interface ObservationDictionary {
  readonly count: number;
  /** Canonical texts (see observation.ts), if the batch carries them. */
  readonly texts?: readonly string[];
  /** 16 bytes each, if the batch came with them. */
  readonly digests?: Uint8Array;
}

/**
 * One advantage batch in memory: columns in the batch's own row order, ids dense. A column
 * that the trainer does not have is omitted; a row that needs it is unverifiable, never right by default.
 */
export interface Batch {
  readonly name: string;
  readonly note?: string;
  readonly rows: number;
  readonly estimator: BatchEstimator;
  readonly provenance?: BatchProvenance;
  /** Index into `groupNames`. */
  readonly group: Int32Array;
  readonly groupNames: readonly string[];
  /** Index into `trajectoryNames`. */
  readonly trajectory: Int32Array;
  readonly trajectoryNames: readonly string[];
  /** Position in its trajectory, from 0. Without it the batch's order is taken as time order. */
  readonly step?: Int32Array;
  readonly observation?: Int32Array;
  /** The observation after the step, an entry of the same dictionary; `GOAL` (kernel/graph.ts) if the step reached the goal. */
  readonly nextObservation?: Int32Array;
  readonly dictionary?: ObservationDictionary;
  /** What people see of an observation: its text, else its digest, else its id. */
  observationLabel(id: number): string;
  /** Index into `actionTexts`; nothing is computed from it. */
  readonly action?: Int32Array;
  /** The distinct actions, as people read them. */
  readonly actionTexts?: readonly string[];
  readonly reward?: Float64Array;
  /** 0 if the invalid-action penalty applies. */
  readonly actionValid?: Uint8Array;
  readonly tokenLevelRewardSum?: Float64Array;
  /** How far each score may be from the trainer's number, if the file gives its parts only. */
  readonly scoreError?: Float64Array;
  /** Each reward function's own column, for estimators that normalise them one by one. */
  readonly rewards?: readonly RewardColumn[];
  /** The reward of a greedy response to the row's prompt. */
  readonly rewardBaseline?: Float64Array;
  readonly responseLength?: Int32Array;
  readonly tokens?: TokenColumns;
  /** As the trainer computed it: float32 values, widened; NaN included. */
  readonly reportedStepReward?: Float64Array;
  /** As the trainer computed it: float32 values, widened; NaN included. */
  readonly reportedAdvantage?: Float64Array;
  /** 1 for rows that have no reported advantage: their number in the column is NaN. */
  readonly unreported?: Uint8Array;
}

/** The kernel's view of a batch. Throws a BatchFormatError if the batch has no observations. */
export function stepColumns(batch: Batch): StepColumns {
  const { rows, group, trajectory, observation } = batch;
  if (observation === undefined) throw missingColumn(batch, 'observation');
  return { rows, group, trajectory, observation };
}

/** A whole estimator: parameters that are omitted have the recipe's values. */
export function estimatorFrom(
  name: EstimatorName,
  params: AnyParameters = {},
  precision: Precision = 'float32',
): BatchEstimator {
  const complete = completeParameters(estimatorOf(name).parameters, params) as AnyParameters;
  return {
    name,
    params: complete as BatchEstimator['params'],
    gamma: 1,
    invalidActionPenalty: 0,
    precision,
  };
}

/**
 * The fingerprint of the estimator that the batch states, with its precision unless that is float32, and with what was done to
 * the rows before it.
 */
export function batchFingerprint(
  { name, params, precision }: Pick<BatchEstimator, 'name' | 'params' | 'precision'>,
  { preparation }: Pick<BatchProvenance, 'preparation'> = {},
): string {
  const more = [
    ...(precision === 'float32' ? [] : [`precision=${precision}`]),
    ...(preparation === undefined ? [] : [`rows=${preparation}`]),
  ];
  return fingerprint(name, params).replace(/\)$/, `${more.map((part) => `,${part}`).join('')})`);
}

/** What the batch's estimator computes from. */
export function usesOf({ name, params }: BatchEstimator): Uses {
  return estimatorOf(name).uses(params);
}

/** True if the batch's estimator has one advantage per token. */
export function isPerToken({ estimator }: Pick<Batch, 'estimator'>): boolean {
  return usesOf(estimator).tokens !== undefined;
}

/** The reported advantages for the batch's estimator: one per row, or one per token. Undefined if the batch has none. */
export function reportedValues(batch: Batch): Float64Array | undefined {
  return isPerToken(batch) ? batch.tokens?.reportedAdvantage : batch.reportedAdvantage;
}

/** The error for a column that is needed and not there. */
export function missingColumn(batch: Pick<Batch, 'name'>, field: string, file = 'batch'): BatchFormatError {
  return new BatchFormatError({
    code: 'missing',
    file,
    batch: batch.name,
    field,
    expected: 'this column, since the estimator needs it',
    found: 'nothing',
  });
}

/** Step numbers as stated, else positions in the trajectory. */
export function stepsOf({ step, trajectory, trajectoryNames, rows }: Batch): Int32Array {
  if (step !== undefined) return step;
  const next = new Int32Array(trajectoryNames.length);
  return Int32Array.from({ length: rows }, (_, row) => next[trajectory[row]!]!++);
}
