import { type Static, Type } from 'typebox';
import type { ResolvedRule } from './rules.ts';
import { commonFields } from './spec-parts.ts';
import { strict } from './strict.ts';
import { type VerlAgentEstimatorName, VerlAgentSpec } from './verl-agent-spec.ts';

/** Estimator of the advantages. Which fields count depends on `name`; a field that does not is an error. */
export const EstimatorSpec = Type.Object(
  {
    name: Type.Union([Type.Literal('hgpo'), Type.Literal('gigpo'), Type.Literal('grpo')]),
    historyLength: Type.Optional(
      Type.Integer({
        minimum: 0,
        maximum: 64,
        description:
          'hgpo: K, the number of previous states that must agree as well; as the environment has it where it is left out',
      }),
    ),
    mode: Type.Optional(
      Type.Union([Type.Literal('mean_std_norm'), Type.Literal('mean_norm')], {
        description: 'hgpo, gigpo: divide by the deviation, or not',
      }),
    ),
    lengthWeightAlpha: Type.Optional(
      Type.Number({
        minimum: -16,
        maximum: 16,
        description: 'hgpo: exponent of the weights of longer histories',
      }),
    ),
    baseGroup: Type.Optional(
      Type.Boolean({ description: 'hgpo: add the comparison of whole trajectories as a level' }),
    ),
    stepAdvantageWeight: Type.Optional(
      Type.Number({ minimum: 0, maximum: 100, description: 'gigpo: weight of the step term' }),
    ),
    normalizeByStd: Type.Optional(Type.Boolean({ description: 'grpo: divide by the deviation' })),
    gamma: Type.Optional(
      Type.Number({ minimum: 0, maximum: 1, description: 'Discount of one environment step' }),
    ),
    invalidActionPenalty: Type.Optional(
      Type.Number({
        minimum: 0,
        maximum: 100,
        description: 'Subtracted from the return of a step whose action was not valid',
      }),
    ),
  },
  strict,
);

/** A small policy trained on the CPU in a text environment of our own; needs no GPU and no weights. */
export const LocalSpec = Type.Object(
  {
    ...commonFields,
    engine: Type.Literal('local'),
    estimator: EstimatorSpec,
    observations: Type.Optional(
      Type.Union([Type.Literal('digests'), Type.Literal('texts')], {
        description: 'What of an observation leaves the cluster',
      }),
    ),
    environment: Type.Optional(
      Type.Object(
        {
          seed: Type.Optional(Type.Integer({ minimum: 0, maximum: 2147483647 })),
          maxSteps: Type.Optional(Type.Integer({ minimum: 1, maximum: 200 })),
          historyLength: Type.Optional(
            Type.Integer({
              minimum: 0,
              maximum: 8,
              description: 'Previous observations that the policy sees',
            }),
          ),
        },
        strict,
      ),
    ),
    rollout: Type.Optional(
      Type.Object(
        {
          groups: Type.Optional(Type.Integer({ minimum: 1, maximum: 256 })),
          groupSize: Type.Optional(
            Type.Integer({ minimum: 1, maximum: 256, description: 'Trajectories per group' }),
          ),
        },
        strict,
      ),
    ),
    training: Type.Optional(
      Type.Object(
        {
          steps: Type.Optional(Type.Integer({ minimum: 1, maximum: 100000 })),
          learningRate: Type.Optional(Type.Number({ exclusiveMinimum: 0, maximum: 10 })),
          epochs: Type.Optional(Type.Integer({ minimum: 1, maximum: 100 })),
          clipRatio: Type.Optional(Type.Number({ exclusiveMinimum: 0, maximum: 10 })),
          klCoefficient: Type.Optional(Type.Number({ minimum: 0, maximum: 10 })),
          seed: Type.Optional(Type.Integer({ minimum: 0, maximum: 2147483647 })),
          saveEvery: Type.Optional(
            Type.Integer({
              minimum: 0,
              maximum: 100000,
              description: 'Steps between checkpoints; 0: at the end only',
            }),
          ),
          evaluateEvery: Type.Optional(
            Type.Integer({
              minimum: 0,
              maximum: 100000,
              description: 'Steps between evaluations; 0: before and after only',
            }),
          ),
          stepDelaySeconds: Type.Optional(
            Type.Number({ minimum: 0, maximum: 600, description: 'Waits that long in each step' }),
          ),
        },
        strict,
      ),
    ),
    evaluation: Type.Optional(
      Type.Object({ games: Type.Optional(Type.Integer({ minimum: 1, maximum: 10000 })) }, strict),
    ),
  },
  { ...strict, $id: 'LocalSpec' },
);

/** Faults of an estimator that `replay` can report, each as it occurred in a public trainer. */
export const REPLAY_FAULTS = [
  'none',
  'shuffled-rows',
  'sample-std',
  'zero-levels-kept',
  'groups-of-one',
  'wrong-gamma',
  'off-by-one-weights',
] as const;

/** Streams recorded batches; for demonstrations and tests. */
export const ReplaySpec = Type.Object(
  {
    ...commonFields,
    engine: Type.Literal('replay'),
    replay: Type.Optional(
      Type.Object(
        {
          fault: Type.Optional(Type.Enum([...REPLAY_FAULTS], { type: 'string' })),
          batches: Type.Optional(
            Type.Integer({
              minimum: 0,
              maximum: 100000,
              description: 'Batches to stream, the record being repeated; 0: as many as it holds',
            }),
          ),
          delaySeconds: Type.Optional(
            Type.Number({ minimum: 0, maximum: 600, description: 'Between two batches' }),
          ),
          stopAfter: Type.Optional(
            Type.Integer({
              minimum: 0,
              maximum: 100000,
              description: 'Ends early after so many batches; 0: does not',
            }),
          ),
          exitCode: Type.Optional(Type.Integer({ minimum: 0, maximum: 255 })),
          logLines: Type.Optional(
            Type.Integer({ minimum: 0, maximum: 1000000, description: 'Log lines with each batch' }),
          ),
          hang: Type.Optional(
            Type.Boolean({ description: 'After the last batch, goes on until it is stopped' }),
          ),
          ignoreSigterm: Type.Optional(Type.Boolean()),
        },
        strict,
      ),
    ),
  },
  { ...strict, $id: 'ReplaySpec' },
);

/** The engines, and the schema of a spec for each. */
export const SPEC_BY_ENGINE = { local: LocalSpec, replay: ReplaySpec, 'verl-agent': VerlAgentSpec } as const;

/** What a person submits. */
export const ExperimentSpec = Type.Union([LocalSpec, ReplaySpec, VerlAgentSpec], { $id: 'ExperimentSpec' });
/** See {@link ExperimentSpec}. */
export type ExperimentSpec = Static<typeof ExperimentSpec>;
/** See {@link EstimatorSpec}. */
export type EstimatorSpec = Static<typeof EstimatorSpec>;
/** See {@link LocalSpec}. */
export type LocalSpec = Static<typeof LocalSpec>;
/** See {@link ReplaySpec}. */
export type ReplaySpec = Static<typeof ReplaySpec>;

/** A type with every optional field present, at any depth. */
export type Complete<T> = T extends object ? { [K in keyof T]-?: Complete<NonNullable<T[K]>> } : T;

/**
 * A spec with its defaults filled in. `estimator` keeps only the fields its name uses. `defaults` lists the JSON
 * pointers of the values that were not submitted.
 */
export interface ResolvedSpec {
  spec: ResolvedLocal | ResolvedReplay | ResolvedVerlAgent;
  defaults: string[];
}

/** What ends an experiment from outside; null: nothing does. Records of older versions have neither. */
export interface Limits {
  timeoutSeconds: number | null;
  /** In UTC with milliseconds, as `Date` writes it. */
  deadline: string | null;
}

/** A resolved {@link LocalSpec}; `cluster` stays null where any will do. */
export type ResolvedLocal = Omit<Complete<LocalSpec>, 'estimator' | 'cluster' | 'rules' | keyof Limits> & {
  rules: ResolvedRule[];
  estimator: EstimatorSpec;
  cluster: string | null;
} & Limits;
/** A resolved {@link ReplaySpec}. */
export type ResolvedReplay = Omit<Complete<ReplaySpec>, 'cluster' | 'rules' | keyof Limits> & {
  cluster: string | null;
  rules: ResolvedRule[];
} & Limits;

/**
 * A resolved {@link VerlAgentSpec}: every setting of its recipe that its estimator and phase use. `critic`,
 * `maxGenerationBatches`, `split` and `checkpoint` are there only where they count; `home` and `cluster` stay null where the cluster decides.
 */
export type ResolvedVerlAgent = Omit<
  Complete<VerlAgentSpec>,
  | 'estimator'
  | 'cluster'
  | 'rules'
  | keyof Limits
  | 'home'
  | 'rollout'
  | 'critic'
  | 'evaluation'
  | 'checkpoints'
  | 'overrides'
> & {
  rules: ResolvedRule[];
  cluster: string | null;
  home: string | null;
  estimator: NonNullable<VerlAgentSpec['estimator']> & { name: VerlAgentEstimatorName };
  rollout: Omit<Complete<NonNullable<VerlAgentSpec['rollout']>>, 'maxGenerationBatches'> &
    Pick<NonNullable<VerlAgentSpec['rollout']>, 'maxGenerationBatches'>;
  critic?: Complete<NonNullable<VerlAgentSpec['critic']>>;
  evaluation: Omit<Complete<NonNullable<VerlAgentSpec['evaluation']>>, 'split' | 'checkpoint'> &
    Pick<NonNullable<VerlAgentSpec['evaluation']>, 'split' | 'checkpoint'>;
  checkpoints: { label: string | null };
  overrides: NonNullable<VerlAgentSpec['overrides']>;
} & Limits;
