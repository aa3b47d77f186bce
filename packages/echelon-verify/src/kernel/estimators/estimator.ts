/** What an estimator is: one object that holds everything the other modules need to know of it. */

import type { GoalReturnRule } from '../graph.ts';
import type { GroupStatistics } from '../sets/row-sets.ts';
import type { Deviation } from '../sets/spread.ts';
import type { StepColumns } from '../sets/steps.ts';
import type { RewardColumn, StagePlan } from '../stages/chain.ts';
import type { AnySingleton } from '../stages/stage.ts';
import type { TokenColumnName, TokenSequences } from '../stages/token-sequences.ts';
import type { AnyParameters, ParameterRule } from './parameters.ts';

/** The columns of a batch. Each function throws if the batch lacks its column, and only if the estimator calls it. */
export interface EstimatorInput {
  readonly steps: StepColumns;
  stepReturn(): Float64Array;
  score(): Float64Array;
  /** Response tokens of each row. */
  responseLength?(): Int32Array;
  /** The columns of the reward functions. */
  rewards?(): readonly RewardColumn[];
  /** The tokens of each row. */
  tokens?(): TokenSequences;
  /** What the environment said of each step. */
  environment?(): EnvironmentInput;
}

/** What the environment said of each step, one entry of each column per row. */
export interface EnvironmentInput {
  readonly reward: Float64Array;
  /** 0 if the action was invalid. Absent: all are valid. */
  readonly actionValid?: Uint8Array | undefined;
  /** Position in the trajectory; rows of one position are copies. Absent: rows stand in time order. */
  readonly step?: Int32Array | undefined;
}

/** A column that an estimator derives from others before its terms, float64, one entry per row. */
export interface DerivedColumn {
  readonly value: Float64Array;
  /** How far each may be from the trainer's number before that is rounded to the term's format. */
  readonly error: Float64Array;
  /** Distance to the number that another form of the derivation gives. */
  readonly rounding: Float64Array;
}

/** What a term is over, if that is neither the scores nor the step returns, and how. */
export interface Derived {
  /** Name of the column in `columns` of the estimator, as people read it. */
  readonly of?: string;
  /** The trainer computes the term in float64 and rounds the result. */
  readonly isDouble?: boolean;
  /** A deviation that is not above this gives 0. */
  readonly guardAbove?: number;
}

/** What an estimator computes from. */
export interface Uses {
  /** The anchor observations. */
  readonly observation: boolean;
  /** The step returns. */
  readonly stepReturn: boolean;
  /** What the environment said of the steps. */
  readonly environment?: readonly ('reward' | 'actionValid')[];
  /** The observations after the steps: step returns are not made of rewards. */
  readonly nextObservation?: boolean;
  /** How step returns follow from distances to the goal; absent if they are discounted rewards, or cannot be recomputed. */
  readonly goalReturns?: Pick<GoalReturnRule, 'distance' | 'goalReward'>;
  /** The rows' scores. */
  readonly score: boolean;
  /** `trajectories`: all rows of a trajectory have one score. */
  readonly scoresOver: GroupStatistics;
  /** Rows of one trajectory may have different advantages. */
  readonly stepwise: boolean;
  /** The number of response tokens of each row. */
  readonly responseLength?: boolean;
  /** The columns of the reward functions, instead of the score. */
  readonly rewards?: boolean;
  /** The columns of the tokens, instead of the score. The estimator then has one advantage per token. */
  readonly tokens?: readonly TokenColumnName[];
  /** The reward of a greedy response to each row's prompt. */
  readonly rewardBaseline?: boolean;
}

/** What is done with (x − mean): divided by (deviation + ε) or by (1 + ε), nothing, or times n / (n − 1); `raw` is x itself. */
export type Norm = 'deviation' | 'one-plus-epsilon' | 'none' | 'leave-one-out' | 'raw';

/** A term over the whole group, of the scores or of a derived column. */
export interface GroupTerm extends Derived {
  readonly over: 'group';
  readonly norm: Norm;
  readonly deviation: Deviation;
  readonly singleton: AnySingleton;
  readonly statistics: GroupStatistics;
  readonly weight: number;
  /** The trainer spreads the term over the tokens of the response and averages it again. */
  readonly overTokens: boolean;
}

/** Terms over the rows of a group that agree in the last k + 1 observations, k = 0..historyLength, of the returns. */
export interface ContextTerms extends Derived {
  readonly over: 'context';
  readonly historyLength: number;
  /** Equal observations of other groups count too. */
  readonly overBatch?: boolean;
  readonly norm: Norm;
  readonly deviation: Deviation;
  weight(level: number): number;
  /** What the weights come from, in words, e.g. `alpha 2`. */
  readonly weighedBy: string;
}

/** How terms make a row: `weighted` mean over those that are not 0, or their `sum`. */
export type Combination = 'weighted' | 'sum';

/** A row's advantage as terms, from which the error bounds, the explanation and the diagnosis are made. */
export interface RowFormula {
  readonly combination: Combination;
  readonly terms: readonly (GroupTerm | ContextTerms)[];
  /** Added to deviations. */
  readonly epsilon: number;
  /** Added to the sum of the weights. */
  readonly weightEpsilon: number;
}

/** The formula as terms or as a chain of stages, or in words what has no error bounds: then every row is unverifiable. */
export type RowPlan = RowFormula | StagePlan | { readonly unbounded: string };

/** The same estimator with other parameters: a mistake that trainers make, tried as the cause of wrong rows. */
export interface Variant<P> {
  /** What was done instead, in words. */
  readonly text: string;
  readonly changes: Partial<P>;
}

/** An estimator of advantages. `P` holds every parameter that changes its numbers. */
export interface Estimator<P = AnyParameters> {
  readonly name: string;
  /** Its name in full. */
  readonly title: string;
  readonly formula: string;
  /** Whose code the defaults are. */
  readonly source: string;
  /** What happens at the edges: groups of one, equal values, NaN. */
  readonly edgeCases: string;
  readonly parameters: { readonly [K in keyof P]: ParameterRule };
  /** The parts of the fingerprint: all that changes the number, and nothing else. */
  fingerprint(p: P): string[];
  uses(p: P): Uses;
  /** One advantage per row, float64. Omitted: the formula is a chain, which gives them. */
  evaluate?(input: EstimatorInput, p: P): Float64Array;
  rowPlan(p: P): RowPlan;
  /** The columns that terms name in `of`. */
  columns?(input: EstimatorInput, p: P): Readonly<Record<string, DerivedColumn>>;
  variants(p: P): Variant<P>[];
}
