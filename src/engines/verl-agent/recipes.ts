import { graphgpoOverrides } from './graphgpo-overrides.ts';
import type { RecipeName } from './spec.ts';

/** One script of verl-agent's `recipe/hgpo` or `recipe/GraphGPO`, as data. Source: upstream commit 20bd331. */
export interface Recipe {
  name: RecipeName;
  /** Whose trainer it starts. */
  method: 'hgpo' | 'graphgpo';
  modelSize: '1.5b' | '7b';
  environment: 'alfworld' | 'webshop';
  phase: 'train' | 'eval';
  /** The Python module that the script starts. */
  program: string;
  gpus: number;
  trainRows: number;
  validationRows: number;
  /**
   * What the script passes to Hydra, in its order. Placeholders stay: `{home}`, `{checkpointsDir}`, and in evaluations
   * `{evalExperimentName}`, `{seed}`, `{historyLength}`.
   */
  overrides: readonly (readonly [key: string, value: string])[];
}

type Facts = Pick<Recipe, 'modelSize' | 'environment' | 'phase'>;

/** What differs between the scripts beyond model and environment: batches at once, offload, checkpoints. */
const MICRO_BATCH: Readonly<Record<string, readonly [actor: number, logProb: number]>> = {
  '1.5b alfworld train': [16, 16],
  '1.5b alfworld eval': [32, 32],
  '1.5b webshop train': [4, 4],
  '1.5b webshop eval': [8, 8],
  '7b alfworld train': [8, 8],
  '7b alfworld eval': [8, 8],
  '7b webshop train': [2, 4],
  '7b webshop eval': [4, 4],
};

const SIZES = ['1.5b', '7b'] as const;
const ENVIRONMENTS = ['alfworld', 'webshop'] as const;
const PHASES = ['train', 'eval'] as const;

/** The environment variables that all eight scripts export; all but the first hand on what is set outside. */
export const SCRIPT_ENVIRONMENT: Readonly<Record<string, string>> = {
  VLLM_ATTENTION_BACKEND: 'XFORMERS',
  HF_HOME: `\${HF_HOME}`,
  WANDB_API_KEY: `\${WANDB_API_KEY}`,
  WANDB_DIR: `\${WANDB_DIR}`,
  CUDA_VISIBLE_DEVICES: `\${CUDA_VISIBLE_DEVICES}`,
};

/** All recipes, in the order of {@link RecipeName}. */
export const RECIPES: readonly Recipe[] = [
  ...SIZES.flatMap((modelSize) =>
    ENVIRONMENTS.flatMap((environment) => PHASES.map((phase) => recipe({ modelSize, environment, phase }))),
  ),
  ...SIZES.flatMap((modelSize) =>
    ENVIRONMENTS.map((environment) => graphgpoRecipe({ modelSize, environment })),
  ),
];

/** The recipe of a name. */
export function recipeOf(name: RecipeName): Recipe {
  return RECIPES.find((one) => one.name === name)!;
}

/** Whether a script retains a single checkpoint. */
export function keepsOne(overrides: Recipe['overrides']): boolean {
  return overrides.some(([key, value]) => key === 'trainer.max_actor_ckpt_to_keep' && value === '1');
}

function recipe(facts: Facts): Recipe {
  const { modelSize, environment, phase } = facts;
  const trainingRows = environment === 'alfworld' ? 128 : 256;
  return {
    ...facts,
    method: 'hgpo',
    name: `qwen2.5_${modelSize}_${environment}_${phase}`,
    program: phase === 'train' ? 'recipe.hgpo.main_hgpo' : 'verl.trainer.main_ppo',
    gpus: modelSize === '7b' ? 4 : 2,
    trainRows: 16,
    validationRows: phase === 'eval' ? 512 : trainingRows,
    overrides: [...head(facts), ...data(), ...policy(facts), ...algorithm(facts), ...tail(facts)],
  };
}

/** A script of `recipe/GraphGPO`: the keys of the HGPO script of the same model and environment, many with other values. */
function graphgpoRecipe(facts: Omit<Facts, 'phase'>): Recipe {
  const { modelSize, environment } = facts;
  return {
    name: `graphgpo_qwen2.5_${modelSize}_${environment}_train`,
    method: 'graphgpo',
    modelSize,
    environment,
    phase: 'train',
    program: 'recipe.GraphGPO.main_graphgpo',
    gpus: modelSize === '7b' ? 4 : 2,
    trainRows: 16,
    validationRows: 128,
    overrides: graphgpoOverrides(facts, [...data(), ...policy({ ...facts, phase: 'train' })]),
  };
}

type Entries = [key: string, value: string][];

function head({ environment, phase }: Facts): Entries {
  const train = phase === 'train';
  return [
    ['algorithm.adv_estimator', 'hgpo'],
    ...when(train, ['algorithm.hgpo.weight_type', 'length']),
    ...when(train && environment === 'alfworld', ['algorithm.hgpo.mode', 'mean_std_norm']),
    ...when(train, ['algorithm.hgpo.length_weight_alpha', '1.0']),
    ...when(train, ['algorithm.hgpo.base_group', 'False']),
  ];
}

function data(): Entries {
  return [
    ['data.train_files', '{home}/data/verl-agent/text/train.parquet'],
    ['data.val_files', '{home}/data/verl-agent/text/test.parquet'],
    ['data.train_batch_size', '16'],
    ['data.val_batch_size', '128'],
    ['data.max_prompt_length', '4096'],
    ['data.max_response_length', '512'],
    ['data.filter_overlong_prompts', 'True'],
    ['data.truncation', 'left'],
    ['data.return_raw_chat', 'True'],
  ];
}

function policy({ modelSize, environment, phase }: Facts): Entries {
  const [actor, logProb] = MICRO_BATCH[`${modelSize} ${environment} ${phase}`]!;
  const large = modelSize === '7b';
  // The only evaluation on WebShop with the larger model keeps the parameters on the GPU, its training does not.
  const parameterOffload = large && !(environment === 'webshop' && phase === 'eval');
  return [
    ['actor_rollout_ref.model.path', `Qwen/Qwen2.5-${large ? '7B' : '1.5B'}-Instruct`],
    ...when(!(large && environment === 'alfworld' && phase === 'train'), [
      'actor_rollout_ref.actor.optim.lr',
      '1e-6',
    ]),
    ['actor_rollout_ref.model.use_remove_padding', 'True'],
    ['actor_rollout_ref.actor.ppo_mini_batch_size', environment === 'alfworld' ? '256' : '64'],
    ['actor_rollout_ref.actor.ppo_micro_batch_size_per_gpu', String(actor)],
    ['actor_rollout_ref.actor.use_kl_loss', 'True'],
    ['actor_rollout_ref.actor.kl_loss_coef', '0.01'],
    ['actor_rollout_ref.actor.kl_loss_type', 'low_var_kl'],
    ['actor_rollout_ref.model.enable_gradient_checkpointing', 'True'],
    ['actor_rollout_ref.actor.fsdp_config.param_offload', python(parameterOffload)],
    ['actor_rollout_ref.actor.fsdp_config.optimizer_offload', python(large)],
    ['actor_rollout_ref.rollout.log_prob_micro_batch_size_per_gpu', String(logProb)],
    ['actor_rollout_ref.rollout.tensor_model_parallel_size', large ? '4' : '2'],
    ['actor_rollout_ref.rollout.name', 'vllm'],
    ['actor_rollout_ref.rollout.gpu_memory_utilization', '0.6'],
    ['actor_rollout_ref.rollout.enable_chunked_prefill', 'False'],
    ['actor_rollout_ref.rollout.enforce_eager', 'False'],
    ['actor_rollout_ref.rollout.free_cache_engine', 'False'],
    ['actor_rollout_ref.rollout.val_kwargs.temperature', '0.4'],
    ['actor_rollout_ref.rollout.val_kwargs.do_sample', 'True'],
    ['actor_rollout_ref.ref.log_prob_micro_batch_size_per_gpu', String(logProb)],
    ['actor_rollout_ref.ref.fsdp_config.param_offload', 'True'],
    ['actor_rollout_ref.actor.use_invalid_action_penalty', 'True'],
    ['actor_rollout_ref.actor.invalid_action_penalty_coef', '0.1'],
  ];
}

function algorithm({ environment, phase }: Facts): Entries {
  return [
    ['algorithm.use_kl_in_reward', 'False'],
    ...when(environment === 'webshop' && phase === 'train', ['algorithm.hgpo.mode', 'mean_norm']),
    ['algorithm.gamma', '0.95'],
    ...when(environment === 'alfworld' && phase === 'eval', ['algorithm.hgpo.mode', 'mean_std_norm']),
  ];
}

function tail({ modelSize, environment, phase }: Facts): Entries {
  const alfworld = environment === 'alfworld';
  const evaluation = phase === 'eval';
  const training = `qwen2.5_${modelSize}_${environment}_train`;
  const directory = evaluation ? '{evalExperimentName}' : experimentName({ modelSize, environment });
  const retainsOne = modelSize === '7b' && !alfworld && !evaluation;
  const saveFrequency = retainsOne ? '80' : '40';
  return [
    ['env.env_name', alfworld ? 'alfworld/AlfredTWEnv' : 'Webshop'],
    ['env.resources_per_worker.num_cpus', '0.1'],
    ['env.seed', evaluation ? '{seed}' : '0'],
    ['env.history_length', evaluation ? '{historyLength}' : '2'],
    ['env.max_steps', alfworld ? '50' : '30'],
    ['env.rollout.n', '8'],
    ['trainer.critic_warmup', '0'],
    ['trainer.logger', '[console,wandb]'],
    ['trainer.project_name', `qwen2.5_${modelSize}_${environment}_${phase}`],
    ['trainer.experiment_name', evaluation ? evaluationName({ modelSize, environment }) : directory],
    ['trainer.n_gpus_per_node', modelSize === '7b' ? '4' : '2'],
    ['trainer.nnodes', '1'],
    ['trainer.save_freq', evaluation ? '-1' : saveFrequency],
    ...when(retainsOne, ['trainer.max_actor_ckpt_to_keep', '1']),
    ['trainer.test_freq', evaluation && alfworld && modelSize === '7b' ? '-1' : '5'],
    ['trainer.total_epochs', '160'],
    ['trainer.default_local_dir', `{checkpointsDir}/${training}/${directory}`],
    ['trainer.val_only', python(evaluation)],
    ...when(evaluation && alfworld, ['trainer.val_out', 'True']),
    ['trainer.val_before_train', python(evaluation)],
  ];
}

function experimentName({ modelSize, environment }: Pick<Facts, 'modelSize' | 'environment'>): string {
  if (environment === 'alfworld') return 'k2_hgpo_length_alpha1.0_baseGroup_False';
  const name = 'k2_hgpo_length_step30_alpha1.0';
  return modelSize === '7b' ? name : `${name}_baseGroup_False`;
}

function evaluationName({ modelSize, environment }: Pick<Facts, 'modelSize' | 'environment'>): string {
  const name = '{evalExperimentName}_seed{seed}';
  return modelSize === '1.5b' && environment === 'alfworld' ? `${name}_eval_outTrue` : name;
}

function when(condition: boolean, entry: Entries[number]): Entries {
  return condition ? [entry] : [];
}

function python(value: boolean): string {
  return value ? 'True' : 'False';
}
