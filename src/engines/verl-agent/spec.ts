import { type Static, Type } from 'typebox';
import { DescribedObject, NamedObject, StrictObject, strict } from '../../schemas/objects.ts';
import { choice, count, flag, number, positive, section } from '../../schemas/optional-fields.ts';
import { commonFields, Name } from '../../schemas/spec-parts.ts';
import { CheckpointReference, type ResolvedCheckpoint } from '../checkpoint-reference.ts';
import type { Complete, Resolved } from '../engine.ts';

/** The scripts of verl-agent's `recipe/hgpo`, without `run_` and `.sh`, and the text trainings of its `recipe/GraphGPO` after `graphgpo_`. */
export const RECIPE_NAMES = [
  'qwen2.5_1.5b_alfworld_train',
  'qwen2.5_1.5b_alfworld_eval',
  'qwen2.5_1.5b_webshop_train',
  'qwen2.5_1.5b_webshop_eval',
  'qwen2.5_7b_alfworld_train',
  'qwen2.5_7b_alfworld_eval',
  'qwen2.5_7b_webshop_train',
  'qwen2.5_7b_webshop_eval',
  'graphgpo_qwen2.5_1.5b_alfworld_train',
  'graphgpo_qwen2.5_1.5b_webshop_train',
  'graphgpo_qwen2.5_7b_alfworld_train',
  'graphgpo_qwen2.5_7b_webshop_train',
] as const;

/** Estimators of verl-agent that can be run. */
const VERL_AGENT_ESTIMATORS = [
  'hgpo',
  'gigpo',
  'graphgpo',
  'grpo',
  'rloo',
  'ppo',
  'reinforce_plus_plus',
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

const SEED_MAX = 2147483647;
const BATCH_MAX = 65536;

const MODEL_PATH = '^(?!.*\\.\\.)[A-Za-z0-9/][A-Za-z0-9._/-]{0,254}$';
const ABSOLUTE_PATH = '^(?!.*\\.\\.)/[A-Za-z0-9._/ -]{0,254}$';

const PANEL_GAME = '^(?!.*\\.\\.)[A-Za-z0-9][A-Za-z0-9._/-]{0,254}$';

const modelPath = (description: string) =>
  Type.Optional(
    Type.String({ pattern: MODEL_PATH, description: `${description}: a Hub name, or a path there` }),
  );

/** The advantage estimator of a verl-agent training; a field that its estimator does not use is an error. */
const VerlAgentEstimatorSpec = StrictObject({
  name: choice(
    VERL_AGENT_ESTIMATORS,
    'Estimator of the advantages. `graphgpo` needs a recipe of GraphGPO, which has no other. `remax` of verl-agent is absent because its baseline comes from a rollout without the environment; `grpo_passk` because it is nearly always 0 over the steps of a group.',
  ),
  mode: choice(
    ['mean_std_norm', 'mean_norm'],
    'hgpo, gigpo, graphgpo: whether to divide by the standard deviation.',
  ),
  weightType: choice(
    ['length'],
    'hgpo: the kind of weights. Only `length` exists, and no code of the recipe reads it.',
  ),
  lengthWeightAlpha: number(
    -16,
    16,
    'hgpo: exponent of the weights of longer histories; 0 weights all levels equally.',
  ),
  baseGroup: flag('hgpo: whether to add the comparison of whole trajectories as a level.'),
  stepAdvantageWeight: number(0, 100, 'gigpo, graphgpo: weight of the step advantage.'),
  episodeAdvantageWeight: number(0, 100, 'graphgpo: weight of the episode advantage.'),
  normalizeDistance: flag(
    'graphgpo: whether the exponent of gamma is the change of the distance to the goal instead of the distance.',
  ),
  normalizeByStd: flag('grpo: whether to divide by the standard deviation.'),
  baseline: flag('reinforce_plus_plus: whether to subtract the mean of the group first.'),
  gamma: number(
    0,
    1,
    'hgpo, gigpo: discount factor of one environment step. graphgpo: factor of one step of distance to the goal.',
  ),
  tokenGamma: number(0, 1, 'ppo, reinforce_plus_plus: discount factor of one token.'),
  lambda: number(0, 1, 'ppo: lambda of the generalized advantage estimate over tokens.'),
  invalidActionPenalty: number(0, 100, 'Penalty for an invalid action; 0 means none.'),
});

/** A key of verl-agent's configuration, as an override writes it. */
const OverrideKey = Type.String({
  pattern: '^[A-Za-z_+~][A-Za-z0-9_.+~-]{0,199}$',
  description: "A key of verl-agent's configuration",
});
const OverrideValue = Type.Union([
  Type.Boolean(),
  Type.Number({ minimum: -1e15, maximum: 1e15 }),
  Type.String({
    maxLength: 500,
    pattern: '^[^\\u0000-\\u001f\\u007f]*$',
    description: 'Text without control characters',
  }),
]);

/** verl-agent's `recipe/hgpo` or `recipe/GraphGPO` on GPUs. Omitted fields have the values of the recipe's script. */
export const VerlAgentSpec = NamedObject('VerlAgentSpec', {
  ...commonFields,
  engine: Type.Literal('verl-agent'),
  recipe: Type.Enum([...RECIPE_NAMES], { type: 'string' }),
  home: Type.Optional(
    Type.String({
      pattern: ABSOLUTE_PATH,
      description:
        'verl-agent checkout on the cluster. Default: VERL_AGENT_HOME of the ray-worker, or else `verl-agent` in the shared directory.',
    }),
  ),
  model: section({
    path: modelPath('The policy to start from'),
    loraRank: count(0, 4096, 'Rank of the LoRA adapters; 0 trains without LoRA.'),
    loraAlpha: number(0, 65536, 'Scaling factor alpha of LoRA.'),
    gradientCheckpointing: flag(
      'Whether to recompute activations in the backward pass instead of storing them.',
    ),
    removePadding: flag('Whether to remove padding by packing sequences.'),
  }),
  estimator: Type.Optional(VerlAgentEstimatorSpec),
  observations: choice(
    ['digests', 'texts'],
    'How observations are recorded: as digests only, or as texts together with the texts of the actions.',
  ),
  environment: section({
    seed: count(
      0,
      SEED_MAX,
      "Random seed of the tasks. Validation draws its games with this seed plus 1000; the seed of the engine that answers is always 0, so that another seed of an evaluation changes which games are drawn, and nothing else. With evaluation.replicates it does not change an evaluation's games.",
    ),
    maxSteps: count(1, 1000, 'Maximum number of environment steps of an episode.'),
    historyLength: count(
      0,
      64,
      'K: number of previous steps in the prompt. For hgpo, also the number of previous states that must match.',
    ),
    cpusPerActor: number(0.01, 64, 'CPUs that Ray reserves for one environment.'),
  }),
  rollout: section({
    groups: count(1, BATCH_MAX, 'Number of tasks per training step.'),
    groupSize: count(1, 1024, 'Number of trajectories per task.'),
    dynamicSampling: flag('Whether to continue sampling until enough groups have differing rewards (DAPO).'),
    maxGenerationBatches: count(1, 1000, 'With dynamicSampling: maximum number of rollouts per step.'),
    engine: choice(['vllm', 'sglang', 'hf']),
    attentionBackend: choice(
      ['XFORMERS', 'FLASH_ATTN', 'FLASHINFER', 'FLEX_ATTENTION', 'TORCH_SDPA', 'auto'],
      'Attention backend of vLLM; `auto` lets vLLM choose. XFORMERS is ignored if the installed vLLM does not have it.',
    ),
    tensorParallelSize: count(1, 1024, 'Number of GPUs per copy of the policy during generation.'),
    gpuMemoryUtilization: number(0.05, 0.99, 'Share of GPU memory for generation, between 0 and 1.'),
    enforceEager: flag('Whether to run generation without CUDA graphs.'),
    freeCacheEngine: flag('Whether to free the key-value cache during training.'),
    chunkedPrefill: flag('Whether to split prefill into chunks.'),
    temperature: number(0, 10, 'Sampling temperature during training.'),
    maxPromptTokens: count(
      1,
      1e7,
      'Maximum prompt length in tokens. Longer prompts are cut at the beginning.',
    ),
    maxResponseTokens: count(1, 1e7, 'Maximum response length of one step, in tokens.'),
    logProbMicroBatchSizePerGpu: count(1, BATCH_MAX, 'Rows'),
  }),
  training: section({
    steps: count(1, 1e6, 'Number of training steps, with one rollout each.'),
    learningRate: positive(1, 'Learning rate of the policy.'),
    miniBatchSize: count(1, BATCH_MAX, 'Rows per policy update, over all GPUs.'),
    microBatchSizePerGpu: count(1, BATCH_MAX, 'Rows per GPU that the policy update processes at a time.'),
    referenceMicroBatchSizePerGpu: count(
      1,
      BATCH_MAX,
      'Rows per GPU for which the reference policy computes log-probabilities at a time.',
    ),
    epochs: count(1, 100, 'Number of passes over each rollout.'),
    clipRatioLow: positive(1),
    clipRatioHigh: positive(10, 'Upper clip ratio. DAPO uses 0.28.'),
    lossAggregation: choice(
      ['token-mean', 'seq-mean-token-sum', 'seq-mean-token-mean', 'seq-mean-token-sum-norm'],
      'How the loss is aggregated over tokens and sequences.',
    ),
    entropyCoefficient: number(0, 10, 'Coefficient of the entropy bonus.'),
    klLoss: flag('Whether the loss has a KL penalty against the reference policy.'),
    klCoefficient: number(0, 10, 'Coefficient of the KL penalty.'),
    klType: choice(['kl', 'abs', 'mse', 'low_var_kl'], 'Estimator of the KL penalty.'),
    parameterOffload: flag('Whether to offload the parameters of the policy to host memory.'),
    optimizerOffload: flag('Whether to offload the optimizer state of the policy to host memory.'),
    referenceOffload: flag('Whether to offload the reference policy to host memory.'),
    saveEvery: count(
      0,
      1e6,
      'Steps between checkpoints; the last step is also saved. 0 saves no checkpoint.',
    ),
    keepCheckpoints: count(0, 10000, 'Number of latest checkpoints to retain; 0 retains all.'),
    evaluateEvery: count(0, 1e6, 'Steps between validations; 0 disables validation.'),
    evaluateBefore: flag('Whether to validate before the first step.'),
    logger: Type.Optional(
      Type.Array(Type.Enum([...VERL_AGENT_LOGGERS], { type: 'string' }), {
        minItems: 1,
        maxItems: VERL_AGENT_LOGGERS.length,
        uniqueItems: true,
        description:
          "Trackers of verl-agent's logger. Default: [console]; Echelon records every metric without a tracker.",
      }),
    ),
  }),
  critic: section({
    path: modelPath('What the critic starts from'),
    learningRate: positive(1, 'Learning rate of the critic.'),
    microBatchSizePerGpu: count(1, BATCH_MAX, 'Rows per GPU that the critic update processes at a time.'),
    parameterOffload: flag('Whether to offload the parameters of the critic to host memory.'),
    optimizerOffload: flag('Whether to offload the optimizer state of the critic to host memory.'),
  }),
  evaluation: section({
    split: choice(
      ['seen', 'unseen'],
      'Split of the evaluation. ALFWorld: `seen` is in-domain (valid_seen), `unseen` out-of-domain (valid_unseen).',
    ),
    games: count(1, 4096, 'Number of environments that run in parallel.'),
    rounds: count(1, 100, 'Number of evaluation rounds over the environments. With `replicates` it follows.'),
    replicates: count(
      1,
      20,
      'Fixed panel: times that each game of the split (ALFWorld: 140 seen or 134 unseen; WebShop: goals 0 to 499) is played, with a digest of what was played. Only such evaluations enter comparisons. Default: the games are drawn with replacement, as verl-agent does.',
    ),
    panel: Type.Optional(
      Type.Array(Type.String({ pattern: PANEL_GAME, description: 'Path of a game without `..`' }), {
        minItems: 1,
        maxItems: 2000,
        uniqueItems: true,
        description:
          'With `replicates`: the games of a panel of your own, as paths below the directory of the split, or as numbers of WebShop goals. Default: all games of the split.',
      }),
    ),
    temperature: number(0, 10, 'Sampling temperature during validation.'),
    sample: flag('Whether validation samples tokens. If false, it takes the most likely token.'),
    checkpoint: Type.Optional(CheckpointReference),
    baseModel: flag(
      'Whether to evaluate `model.path` itself, without a training. Replaces `checkpoint`. Default: false.',
    ),
  }),
  checkpoints: Type.Optional(
    DescribedObject(
      'Label that gives the training a checkpoint directory of its own. Without a label, trainings with equal settings share a directory, and a later one continues from its checkpoints.',
      { label: Type.Optional(Name) },
    ),
  ),
  allowCustomCode: flag('Whether overrides may load code. Requires an API key with the scope custom-code.'),
  overrides: Type.Optional(
    Type.Record(OverrideKey, OverrideValue, {
      ...strict,
      maxProperties: 100,
      description: "Further keys of verl-agent's configuration. Only known keys are allowed.",
    }),
  ),
});
export type VerlAgentSpec = Static<typeof VerlAgentSpec>;
/** See {@link RECIPE_NAMES}. */
export type RecipeName = (typeof RECIPE_NAMES)[number];
/** See {@link VERL_AGENT_ESTIMATORS}. */
export type VerlAgentEstimatorName = (typeof VERL_AGENT_ESTIMATORS)[number];

/**
 * A resolved {@link VerlAgentSpec}: every setting of its recipe that its estimator and phase use. `critic`,
 * `maxGenerationBatches`, `split`, `replicates`, `panel`, `checkpoint` and `baseModel` are present only if they have an effect. `home` is null if the
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
  evaluation: Omit<
    Complete<NonNullable<VerlAgentSpec['evaluation']>>,
    'split' | 'replicates' | 'panel' | 'checkpoint' | 'baseModel'
  > &
    Pick<NonNullable<VerlAgentSpec['evaluation']>, 'split' | 'replicates' | 'panel' | 'baseModel'> & {
      checkpoint?: ResolvedCheckpoint;
    };
  checkpoints: { label: string | null };
  overrides: NonNullable<VerlAgentSpec['overrides']>;
};
