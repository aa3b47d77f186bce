import { type Static, Type } from 'typebox';
import { commonFields, Name } from '../../schemas/spec-parts.ts';
import { strict } from '../../schemas/strict.ts';
import type { Complete, Resolved } from '../engine.ts';

/** The scripts of verl-agent's `recipe/hgpo`, without `run_` and `.sh`. */
export const RECIPE_NAMES = [
  'qwen2.5_1.5b_alfworld_train',
  'qwen2.5_1.5b_alfworld_eval',
  'qwen2.5_1.5b_webshop_train',
  'qwen2.5_1.5b_webshop_eval',
  'qwen2.5_7b_alfworld_train',
  'qwen2.5_7b_alfworld_eval',
  'qwen2.5_7b_webshop_train',
  'qwen2.5_7b_webshop_eval',
] as const;

/** Estimators that verl-agent names; `remax` and `grpo_passk` are refused with the reason. */
const VERL_AGENT_ESTIMATORS = [
  'hgpo',
  'gigpo',
  'grpo',
  'rloo',
  'ppo',
  'reinforce_plus_plus',
  'remax',
  'grpo_passk',
] as const;

/** Trackers that verl-agent's own logger knows. */
const VERL_AGENT_LOGGERS = [
  'console',
  'wandb',
  'mlflow',
  'swanlab',
  'vemlp_wandb',
  'tensorboard',
  'clearml',
] as const;

const choice = <const T extends string>(values: readonly T[], description?: string) =>
  Type.Optional(
    Type.Unsafe<T>({
      type: 'string',
      enum: [...values],
      ...(description === undefined ? {} : { description }),
    }),
  );
const flag = (description: string) => Type.Optional(Type.Boolean({ description }));
const count = (minimum: number, maximum: number, description: string) =>
  Type.Optional(Type.Integer({ minimum, maximum, description }));
const number = (minimum: number, maximum: number, description: string) =>
  Type.Optional(Type.Number({ minimum, maximum, description }));
const section = <T extends Parameters<typeof Type.Object>[0]>(fields: T) =>
  Type.Optional(Type.Object(fields, strict));

const SEED_MAX = 2147483647;
const BATCH_MAX = 65536;

const MODEL_PATH = '^(?!.*\\.\\.)[A-Za-z0-9/][A-Za-z0-9._/-]{0,254}$';
const ABSOLUTE_PATH = '^(?!.*\\.\\.)/[A-Za-z0-9._/ -]{0,254}$';
const CHECKPOINT_DIRECTORY = '^(?!.*\\.\\.)[A-Za-z0-9][A-Za-z0-9._-]{0,99}/[A-Za-z0-9][A-Za-z0-9._-]{0,149}$';

const modelPath = (description: string) =>
  Type.Optional(
    Type.String({ pattern: MODEL_PATH, description: `${description}: a Hub name, or a path there` }),
  );

/** The advantage estimator of a verl-agent training; a field that its estimator does not use is an error. */
export const VerlAgentEstimatorSpec = Type.Object(
  {
    name: choice(VERL_AGENT_ESTIMATORS),
    mode: choice(['mean_std_norm', 'mean_norm'], 'hgpo, gigpo: divide by the deviation, or not'),
    weightType: choice(['length'], 'hgpo: the only one there is; no code of the recipe reads it'),
    lengthWeightAlpha: number(-16, 16, 'hgpo: exponent of the weights of longer histories; 0 is uniform'),
    baseGroup: flag('hgpo: add the comparison of whole trajectories as a level'),
    stepAdvantageWeight: number(0, 100, 'gigpo: weight of the step term'),
    normalizeByStd: flag('grpo: divide by the deviation'),
    baseline: flag("reinforce_plus_plus: subtract the group's mean first"),
    gamma: number(0, 1, 'hgpo, gigpo: discount of one environment step'),
    tokenGamma: number(0, 1, 'ppo, reinforce_plus_plus: discount of one token'),
    lambda: number(0, 1, 'ppo: of the generalized advantage estimate, over tokens'),
    invalidActionPenalty: number(0, 100, 'Subtracted where the action was not valid; 0: none'),
  },
  strict,
);

/** A key of verl-agent's configuration, as an override writes it. */
const OverrideKey = Type.String({
  pattern: '^[A-Za-z_+~][A-Za-z0-9_.+~-]{0,199}$',
  description: "A key of verl-agent's configuration",
});
const OverrideValue = Type.Union([
  Type.Boolean(),
  Type.Number({ minimum: -1e15, maximum: 1e15 }),
  Type.String({ maxLength: 500, pattern: '^[^\\u0000-\\u001f\\u007f]*$' }),
]);

/** Which checkpoint an evaluation loads. */
const CheckpointReference = Type.Object(
  {
    directory: Type.String({
      pattern: CHECKPOINT_DIRECTORY,
      description:
        "Of the training, as its plan names it: below the cluster's checkpoints, e.g. project/name-hash",
    }),
    step: count(1, 1e9, 'The latest where it is left out'),
  },
  strict,
);

/** verl-agent's `recipe/hgpo` on GPUs. What is left out is as the recipe's script has it. */
export const VerlAgentSpec = Type.Object(
  {
    ...commonFields,
    engine: Type.Literal('verl-agent'),
    recipe: Type.Enum([...RECIPE_NAMES], { type: 'string' }),
    home: Type.Optional(
      Type.String({
        pattern: ABSOLUTE_PATH,
        description: "The verl-agent checkout on the cluster; the cluster's own where it is left out",
      }),
    ),
    model: section({
      path: modelPath('The policy to start from'),
      loraRank: count(0, 4096, '0: no LoRA'),
      loraAlpha: number(0, 65536, 'Scale of LoRA'),
      gradientCheckpointing: flag('Recompute activations instead of keeping them'),
      removePadding: flag('Pack sequences'),
    }),
    estimator: Type.Optional(VerlAgentEstimatorSpec),
    advantages: choice(
      ['recipe', 'exact'],
      'exact (hgpo): values that stem from float32 rounding are replaced by the float64 result',
    ),
    observations: choice(['digests', 'texts'], 'What of an observation leaves the cluster'),
    environment: section({
      seed: count(0, SEED_MAX, 'Of the tasks; validation adds 1000'),
      maxSteps: count(1, 1000, 'Of an episode'),
      historyLength: count(
        0,
        64,
        'K: previous steps in the prompt, and for hgpo those that must agree as well',
      ),
      cpusPerActor: number(0.01, 64, 'That Ray counts for one environment'),
    }),
    rollout: section({
      groups: count(1, BATCH_MAX, 'Tasks per training step'),
      groupSize: count(1, 1024, 'Trajectories per task'),
      dynamicSampling: flag("DAPO's: sample on until enough groups have differing rewards"),
      maxGenerationBatches: count(1, 1000, 'dynamicSampling: rollouts per step at most'),
      engine: choice(['vllm', 'sglang', 'hf']),
      attentionBackend: choice(
        ['XFORMERS', 'FLASH_ATTN', 'FLASHINFER', 'FLEX_ATTENTION', 'TORCH_SDPA', 'auto'],
        "vLLM's; auto: leave it the choice",
      ),
      tensorParallelSize: count(1, 1024, 'GPUs per copy of the policy while it generates'),
      gpuMemoryUtilization: number(0.05, 0.99, "Share of a GPU's memory for generation"),
      enforceEager: flag('No CUDA graphs'),
      freeCacheEngine: flag('Free the key-value cache while training'),
      chunkedPrefill: flag('Prefill in chunks'),
      temperature: number(0, 10, 'Of sampling while training'),
      maxPromptTokens: count(1, 1e7, 'Longer prompts lose their beginning'),
      maxResponseTokens: count(1, 1e7, 'Of one step'),
      logProbMicroBatchSizePerGpu: count(1, BATCH_MAX, 'Rows'),
    }),
    training: section({
      steps: count(1, 1e6, 'Training steps; one rollout each'),
      learningRate: Type.Optional(
        Type.Number({ exclusiveMinimum: 0, maximum: 1, description: "The policy's" }),
      ),
      miniBatchSize: count(1, BATCH_MAX, 'Rows per update, over all GPUs'),
      microBatchSizePerGpu: count(1, BATCH_MAX, 'Rows at once'),
      referenceMicroBatchSizePerGpu: count(1, BATCH_MAX, 'Rows at once, of the reference policy'),
      epochs: count(1, 100, 'Passes over a rollout'),
      clipRatioLow: Type.Optional(Type.Number({ exclusiveMinimum: 0, maximum: 1 })),
      clipRatioHigh: Type.Optional(
        Type.Number({ exclusiveMinimum: 0, maximum: 10, description: 'DAPO: 0.28' }),
      ),
      lossAggregation: choice(
        ['token-mean', 'seq-mean-token-sum', 'seq-mean-token-mean', 'seq-mean-token-sum-norm'],
        'Over tokens or sequences',
      ),
      entropyCoefficient: number(0, 10, 'Of the entropy bonus'),
      klLoss: flag('Penalty for leaving the reference policy, in the loss'),
      klCoefficient: number(0, 10, 'Of that penalty'),
      klType: choice(['kl', 'abs', 'mse', 'low_var_kl'], 'Its estimate'),
      parameterOffload: flag('Parameters of the policy in host memory'),
      optimizerOffload: flag("The policy's optimizer in host memory"),
      referenceOffload: flag('The reference policy in host memory'),
      saveEvery: count(0, 1e6, 'Steps between checkpoints, the last step included; 0: none at all'),
      keepCheckpoints: count(0, 10000, 'The latest so many; 0: all'),
      evaluateEvery: count(0, 1e6, 'Steps between validations; 0: none'),
      evaluateBefore: flag('Validate before the first step'),
      logger: Type.Optional(
        Type.Array(Type.Enum([...VERL_AGENT_LOGGERS], { type: 'string' }), {
          minItems: 1,
          maxItems: VERL_AGENT_LOGGERS.length,
          uniqueItems: true,
          description: "Trackers of verl-agent's own logger",
        }),
      ),
    }),
    critic: section({
      path: modelPath('What the critic starts from'),
      learningRate: Type.Optional(
        Type.Number({ exclusiveMinimum: 0, maximum: 1, description: "The critic's" }),
      ),
      microBatchSizePerGpu: count(1, BATCH_MAX, 'Rows at once'),
      parameterOffload: flag('Parameters of the critic in host memory'),
      optimizerOffload: flag("The critic's optimizer in host memory"),
    }),
    evaluation: section({
      split: choice(['seen', 'unseen'], 'ALFWorld: in-domain (valid_seen) or out-of-domain (valid_unseen)'),
      games: count(1, 4096, 'Environments side by side'),
      rounds: count(1, 100, 'Times over them'),
      temperature: number(0, 10, 'Of sampling while validating'),
      sample: flag('Sample; else take the likeliest token'),
      checkpoint: Type.Optional(CheckpointReference),
    }),
    checkpoints: Type.Optional(
      Type.Object(
        { label: Type.Optional(Name) },
        {
          ...strict,
          description:
            'Trainings of equal settings share a directory, and a later one goes on from its checkpoints; a label keeps it apart',
        },
      ),
    ),
    allowCustomCode: flag('Overrides may name code; needs a key with the scope custom-code'),
    overrides: Type.Optional(
      Type.Record(OverrideKey, OverrideValue, {
        ...strict,
        maxProperties: 100,
        description: "Further keys of verl-agent's configuration, from a list of known ones",
      }),
    ),
  },
  { ...strict, $id: 'VerlAgentSpec' },
);
/** See {@link VerlAgentSpec}. */
export type VerlAgentSpec = Static<typeof VerlAgentSpec>;
/** See {@link RECIPE_NAMES}. */
export type RecipeName = (typeof RECIPE_NAMES)[number];
/** See {@link VERL_AGENT_ESTIMATORS}. */
export type VerlAgentEstimatorName = (typeof VERL_AGENT_ESTIMATORS)[number];

/**
 * A resolved {@link VerlAgentSpec}: every setting of its recipe that its estimator and phase use. `critic`,
 * `maxGenerationBatches`, `split` and `checkpoint` are present only if they have an effect. `home` is null if the
 * cluster's own checkout is used.
 */
export type ResolvedVerlAgent = Resolved<
  VerlAgentSpec,
  'estimator' | 'home' | 'rollout' | 'critic' | 'evaluation' | 'checkpoints' | 'overrides'
> & {
  home: string | null;
  estimator: NonNullable<VerlAgentSpec['estimator']> & { name: VerlAgentEstimatorName };
  rollout: Omit<Complete<NonNullable<VerlAgentSpec['rollout']>>, 'maxGenerationBatches'> &
    Pick<NonNullable<VerlAgentSpec['rollout']>, 'maxGenerationBatches'>;
  critic?: Complete<NonNullable<VerlAgentSpec['critic']>>;
  evaluation: Omit<Complete<NonNullable<VerlAgentSpec['evaluation']>>, 'split' | 'checkpoint'> &
    Pick<NonNullable<VerlAgentSpec['evaluation']>, 'split' | 'checkpoint'>;
  checkpoints: { label: string | null };
  overrides: NonNullable<VerlAgentSpec['overrides']>;
};
