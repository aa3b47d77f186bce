import type { EstimatorName } from '../../kernel/fingerprint.ts';
import { fingerprint } from '../../kernel/fingerprint.ts';
import type { GroupStatistics } from '../../kernel/grpo.ts';
import type { Deviation } from '../../kernel/spread.ts';
import type { NormMode, StepColumns } from '../../kernel/steps.ts';
import { BatchFormatError } from './format-error.ts';

/** Rows that a batch may have at most. */
export const MAX_ROWS = 2 ** 24;

/**
 * `recipe`: the forms of verl-agent's code, run by torch on the CPU: means by division, deviations about the mean or in
 * double precision. `any`: every form that libraries use (any-form.ts).
 */
export type Forms = 'recipe' | 'any';

/**
 * The estimator that the trainer states to have used. Every field is set; those that the named estimator does
 * not use mean nothing.
 */
export interface BatchEstimator {
  readonly name: EstimatorName;
  readonly historyLength: number;
  readonly mode: NormMode;
  readonly lengthWeightAlpha: number;
  readonly baseGroup: boolean;
  readonly stepAdvantageWeight: number;
  readonly normalizeByStd: boolean;
  readonly gamma: number;
  readonly invalidActionPenalty: number;
  readonly epsilon: number;
  /** Left out: as the recipe of `name` does. */
  readonly deviation?: Deviation;
  /** What the mean and deviation over a group run over. Omitted: `rows`, as in the recipes. */
  readonly statistics?: GroupStatistics;
  /** The arithmetic of the reported columns. */
  readonly precision: 'float32' | 'float64';
  /** The algebraic forms of the formula that the trainer may have evaluated. Omitted: `any`. */
  readonly forms?: Forms;
}

/** Where a batch comes from. A field is there only where the producer states it. */
export interface BatchProvenance {
  readonly experiment?: string;
  readonly attempt?: number;
  readonly trainingStep?: number;
  /** Trajectories per group. */
  readonly groupSize?: number;
  readonly groups?: number;
  /** Rows that the rollout collected. */
  readonly rowsCollected?: number;
  readonly producer?: string;
}

/** The distinct observations of a batch, in the order of their ids. */
export interface ObservationDictionary {
  readonly count: number;
  /** Canonical texts (see observation.ts), where the batch carries them. */
  readonly texts?: readonly string[];
  /** 16 bytes each, where the batch came with them. */
  readonly digests?: Uint8Array;
}

/**
 * One advantage batch in memory: columns in the batch's own row order, ids dense. A column
 * that the trainer does not have is left out; what needs it is unverifiable, never right by default.
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
  readonly dictionary?: ObservationDictionary;
  /** What people see of an observation: its text, else its digest, else its id. */
  observationLabel(id: number): string;
  readonly reward?: Float64Array;
  /** 0 where the invalid-action penalty applies. */
  readonly actionValid?: Uint8Array;
  readonly tokenLevelRewardSum?: Float64Array;
  readonly responseLength?: Int32Array;
  /** As the trainer computed it: float32 values, widened. NaN where it was NaN. */
  readonly reportedStepReward?: Float64Array;
  /** As the trainer computed it: float32 values, widened. NaN where it was NaN. */
  readonly reportedAdvantage?: Float64Array;
}

/** The kernel's view of a batch. Throws a BatchFormatError where the batch has no observations. */
export function stepColumns(batch: Batch): StepColumns {
  const { rows, group, trajectory, observation } = batch;
  if (observation === undefined) throw missingColumn(batch, 'observation');
  return { rows, group, trajectory, observation };
}

/** The estimator's parameters as the kernel takes them; what the batch does not state is as in the recipe. */
export function kernelParameters(
  estimator: BatchEstimator,
): Omit<BatchEstimator, 'name' | 'precision' | 'forms'> & { baseStatistics?: GroupStatistics } {
  const { name, precision: _precision, forms: _forms, ...parameters } = estimator;
  const { statistics } = estimator;
  // HGPO's group is its base group.
  return name === 'hgpo' && statistics !== undefined
    ? { ...parameters, baseStatistics: statistics }
    : parameters;
}

/** The fingerprint of the estimator that the batch states. */
export function batchFingerprint(estimator: BatchEstimator): string {
  return fingerprint(estimator.name, kernelParameters(estimator));
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
