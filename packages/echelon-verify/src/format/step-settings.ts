/** What a batch states about its optimizer step: the arithmetic, the layout and the reported values. */

/** A parameter as stated. null: switched off. */
export type SettingValue = number | string | boolean | null;

/** A loss by its name, with its parameters as stated. */
export interface LossSettings {
  readonly name: string;
  readonly params: Readonly<Record<string, SettingValue>>;
}

/** Levels of a rollout weight: each token its own, or one for the row. */
export const CORRECTION_LEVELS = ['token', 'sequence'] as const;
/** What is compared with the limits. For a row: the product of the token ratios, or their geometric mean. */
export const CORRECTION_STATISTICS = ['ratio', 'sum', 'mean'] as const;
/**
 * `truncate` caps the weight; `mask` sets it to 0 outside the limits; `unknown`: the loss is recomputed with the recorded weight, which
 * is not verified.
 */
export const CORRECTION_ACTIONS = ['truncate', 'mask', 'unknown'] as const;

/** The rollout correction (TIS, MIS, IcePop): the weight is made of exp(oldLogProb − rolloutLogProb). */
export interface CorrectionSettings {
  readonly level: (typeof CORRECTION_LEVELS)[number];
  readonly statistic: (typeof CORRECTION_STATISTICS)[number];
  readonly action: (typeof CORRECTION_ACTIONS)[number];
  readonly low?: number;
  readonly high?: number;
  /** `policy`: the weight multiplies the policy loss; `all`: the KL term as well. */
  readonly appliesTo: 'policy' | 'all';
  /** A weight of a sequence decides, and a kept token is weighed with its own ratio. */
  readonly keptWeight: 'statistic' | 'token';
  /** The exponent is clamped to ± this. */
  readonly exponentClamp?: number;
}

/** Of which policy the log-probs are that the off-policy mask compares with the current ones. */
export const SAMPLED_BY = ['old', 'rollout'] as const;

/** The off-policy mask: rows with a negative advantage have no policy loss if the mean log-ratio of their tokens is beyond it. */
export interface OffPolicySettings {
  readonly threshold: number;
  readonly sampledBy: (typeof SAMPLED_BY)[number];
}

/** The KL term of the loss. */
export interface KlSettings {
  readonly estimator: string;
  readonly coefficient: number;
  /** `loss`: added to the loss of the token; `reward`: part of the advantage already. */
  readonly placement: 'loss' | 'reward';
  readonly inputClamp?: number;
  readonly outputClamp?: number;
  /** `ratio`: the value is multiplied by the importance ratio, with its gradient; `probability`: by exp(logProb − stop(logProb)). */
  readonly weight: 'none' | 'ratio' | 'probability';
  /** Gradient of another estimator (straight-through), e.g. k2 for verl's `k3+`. */
  readonly gradientOf?: string;
  /** The KL term's own aggregation. Omitted: that of the policy loss. */
  readonly aggregation?: AggregationSettings;
}

export const SCOPES = ['global', 'window', 'rank', 'micro-batch'] as const;
export const JOINED = ['mean', 'sum'] as const;
export const COUNTED = ['mask', 'kept', 'sampled', 'all'] as const;

/** How losses of tokens become one number. */
export interface AggregationSettings {
  /** A name of the registry of aggregations. */
  readonly mode: string;
  /**
   * Over what the denominator counts: all micro-batches of all ranks; the step's share of the rollout batch (`step.window`); those of a
   * rank; or one.
   */
  readonly scope: (typeof SCOPES)[number];
  /** Which tokens the denominator counts. */
  readonly counts: (typeof COUNTED)[number];
  /** Rows of the denominator: all, those with a counted token, or a configured number. */
  readonly rowCount: 'all' | 'trained' | number;
  /** A constant that divides as well (`seq-mean-token-sum-norm`). */
  readonly scaleFactor?: number;
  /** The denominator of the mode `constant`. */
  readonly denominator?: number;
  /** How micro-batches of a rank are joined if each has its own denominator. Omitted: `mean`. */
  readonly microBatches?: (typeof JOINED)[number];
}

/** One micro-batch: one backward pass of one rank. */
export interface MicroBatch {
  readonly rank: number;
  readonly index: number;
  /** Pass over the rollout data (PPO epoch). */
  readonly pass: number;
  /** Constant factor between the aggregated loss and the loss that was passed to `backward()`. */
  readonly gradientScale?: number;
  /** Factor of mixed precision beside the scale that makes the update the stated aggregation; `gradientScale` has precedence. */
  readonly lossScale?: number;
  readonly reportedLoss?: number;
  /** Other values that the trainer computed of this micro-batch. */
  readonly reported?: Readonly<Partial<Record<ReportedKey, number>>>;
  readonly reportedDenominator?: number;
  /** Padded tokens of a row, the divisor of `seq-mean-token-sum-norm` without a scale factor. */
  readonly width?: number;
}

/** How the values of micro-batches become a reported one. */
export const REDUCTIONS = [
  'sum-of-micro-batches',
  'mean-of-micro-batches',
  'last-micro-batch',
  'sum',
  'tokens',
  'tokens-then-mean',
] as const;

/** Over which tokens a reported mean is: those of the mask, or those that rejection kept. */
export const MEAN_COUNTS = ['mask', 'kept'] as const;
export type MeanCounts = (typeof MEAN_COUNTS)[number];

/** A value that the trainer logged. */
export interface ReportedValue {
  readonly value: number;
  readonly reduction?: (typeof REDUCTIONS)[number];
  /** What a dump does not say of the reduction, if that is more than `reduction`. The value is unverifiable then. */
  readonly lacks?: string;
  /** A mean of micro-batches that may be over more of them than the dump holds; each of the others adds 0. */
  readonly hasMore?: true;
  /** For a mean over tokens. Omitted: `kept`, the mask after rejection. */
  readonly counts?: MeanCounts;
  /** Significant digits to which the tracker rounded. Omitted: float32. */
  readonly digits?: number;
}

/** The reported values that are checked. */
export const REPORTED_KEYS = [
  'loss',
  'policyLoss',
  'klLoss',
  'entropy',
  'clipFraction',
  'clipFractionLower',
  'approxKl',
  'rolloutKl',
] as const;
export type ReportedKey = (typeof REPORTED_KEYS)[number];

/** The arithmetic of log-probs and loss. */
export const STEP_PRECISIONS = ['float32', 'bfloat16'] as const;
export type StepPrecision = (typeof STEP_PRECISIONS)[number];

/** Settings of the sampler, as far as findings need them. */
export interface SamplingSettings {
  readonly temperature?: number;
  readonly topP?: number;
  readonly topK?: number;
  readonly minP?: number;
  /** Which log-probs the rollout engine reports. */
  readonly logProbs?: 'raw' | 'processed';
}

/**
 * The rollout batch of which a step trains a part, as its masks count it: TRL divides by its tokens, in proportion to the micro-batches.
 */
export interface StepWindow {
  /** Micro-batches of one rank. */
  readonly microBatches: number;
  /** Tokens of the loss mask over the recorded ranks. */
  readonly tokens: number;
}

/** All of `step`. What is omitted is not known. */
export interface StepSettings {
  /** Number of the update, before it is applied. */
  readonly optimizerStep?: number;
  /** The same text in what all ranks of one training record, and in nothing else. */
  readonly run?: string;
  readonly trainer?: string;
  readonly trainerVersion?: string;
  readonly backend?: string;
  readonly policyLoss?: LossSettings;
  readonly rolloutCorrection?: CorrectionSettings;
  readonly offPolicyMask?: OffPolicySettings;
  readonly kl?: KlSettings;
  readonly entropyCoefficient?: number;
  readonly aggregation?: AggregationSettings;
  /** Ranks of the training, whether or not the step has the micro-batches of all of them. */
  readonly dataParallelSize?: number;
  readonly contextParallelSize?: number;
  readonly gradientReduction?: 'mean' | 'sum';
  readonly sampling?: SamplingSettings;
  readonly precision?: StepPrecision;
  /** Optimizer steps by which a token's policy version may be older. */
  readonly maxStaleness?: number;
  readonly window?: StepWindow;
  /** Of each row as the loss received it, of its place in the rollout, token ids and old log-probs. */
  readonly rowDigests?: readonly string[];
  /** The same of each row of the rollout, as it was generated and its old log-probs were computed. */
  readonly sourceDigests?: readonly string[];
  /** Each row holds the tokens of its trajectory from the first one, so that the place of a token is its position. */
  readonly wholeTrajectories?: boolean;
  /** At least one. */
  readonly microBatches: readonly MicroBatch[];
  readonly reported: Readonly<Partial<Record<ReportedKey, ReportedValue>>>;
}
