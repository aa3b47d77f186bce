import { valueAt } from '../../core/trees.ts';
import { ESTIMATOR_KEYS } from './estimators.ts';
import type { HydraValue } from './hydra.ts';
import type { ResolvedVerlAgent } from './spec.ts';

/** How a field's value is written in the configuration, if it is not written unchanged. */
type Form = 'same' | 'every' | 'keep';

/** Fields of a spec that are one key of the configuration, in the order in which new keys are appended. */
const FIELDS: readonly (readonly [path: string, key: string, form?: Form])[] = [
  ['rollout.groups', 'data.train_batch_size'],
  ['evaluation.games', 'data.val_batch_size'],
  ['rollout.maxPromptTokens', 'data.max_prompt_length'],
  ['rollout.maxResponseTokens', 'data.max_response_length'],
  ['model.path', 'actor_rollout_ref.model.path'],
  ['model.loraRank', 'actor_rollout_ref.model.lora_rank'],
  ['model.loraAlpha', 'actor_rollout_ref.model.lora_alpha'],
  ['model.gradientCheckpointing', 'actor_rollout_ref.model.enable_gradient_checkpointing'],
  ['model.removePadding', 'actor_rollout_ref.model.use_remove_padding'],
  ['training.learningRate', 'actor_rollout_ref.actor.optim.lr'],
  ['training.miniBatchSize', 'actor_rollout_ref.actor.ppo_mini_batch_size'],
  ['training.microBatchSizePerGpu', 'actor_rollout_ref.actor.ppo_micro_batch_size_per_gpu'],
  ['training.epochs', 'actor_rollout_ref.actor.ppo_epochs'],
  ['training.clipRatioLow', 'actor_rollout_ref.actor.clip_ratio_low'],
  ['training.clipRatioHigh', 'actor_rollout_ref.actor.clip_ratio_high'],
  ['training.lossAggregation', 'actor_rollout_ref.actor.loss_agg_mode'],
  ['training.entropyCoefficient', 'actor_rollout_ref.actor.entropy_coeff'],
  ['training.klLoss', 'actor_rollout_ref.actor.use_kl_loss'],
  ['training.klCoefficient', 'actor_rollout_ref.actor.kl_loss_coef'],
  ['training.klType', 'actor_rollout_ref.actor.kl_loss_type'],
  ['training.parameterOffload', 'actor_rollout_ref.actor.fsdp_config.param_offload'],
  ['training.optimizerOffload', 'actor_rollout_ref.actor.fsdp_config.optimizer_offload'],
  ['training.referenceOffload', 'actor_rollout_ref.ref.fsdp_config.param_offload'],
  ['training.referenceMicroBatchSizePerGpu', 'actor_rollout_ref.ref.log_prob_micro_batch_size_per_gpu'],
  ['rollout.logProbMicroBatchSizePerGpu', 'actor_rollout_ref.rollout.log_prob_micro_batch_size_per_gpu'],
  ['rollout.tensorParallelSize', 'actor_rollout_ref.rollout.tensor_model_parallel_size'],
  ['rollout.engine', 'actor_rollout_ref.rollout.name'],
  ['rollout.gpuMemoryUtilization', 'actor_rollout_ref.rollout.gpu_memory_utilization'],
  ['rollout.chunkedPrefill', 'actor_rollout_ref.rollout.enable_chunked_prefill'],
  ['rollout.enforceEager', 'actor_rollout_ref.rollout.enforce_eager'],
  ['rollout.freeCacheEngine', 'actor_rollout_ref.rollout.free_cache_engine'],
  ['rollout.temperature', 'actor_rollout_ref.rollout.temperature'],
  ['evaluation.temperature', 'actor_rollout_ref.rollout.val_kwargs.temperature'],
  ['evaluation.sample', 'actor_rollout_ref.rollout.val_kwargs.do_sample'],
  ['rollout.dynamicSampling', 'algorithm.filter_groups.enable'],
  ['rollout.maxGenerationBatches', 'algorithm.filter_groups.max_num_gen_batches'],
  ['environment.cpusPerActor', 'env.resources_per_worker.num_cpus'],
  ['environment.seed', 'env.seed'],
  ['environment.historyLength', 'env.history_length'],
  ['environment.maxSteps', 'env.max_steps'],
  ['rollout.groupSize', 'env.rollout.n'],
  ['training.logger', 'trainer.logger'],
  ['resources.nodes', 'trainer.nnodes'],
  ['resources.gpus', 'trainer.n_gpus_per_node'],
  ['training.saveEvery', 'trainer.save_freq', 'every'],
  ['training.keepCheckpoints', 'trainer.max_actor_ckpt_to_keep', 'keep'],
  ['training.evaluateEvery', 'trainer.test_freq', 'every'],
  ['training.steps', 'trainer.total_epochs'],
  ['training.evaluateBefore', 'trainer.val_before_train'],
];

/** Fields of `critic`, which counts for ppo alone. */
const CRITIC_FIELDS: readonly (readonly [path: string, key: string])[] = [
  ['critic.path', 'critic.model.path'],
  ['critic.learningRate', 'critic.optim.lr'],
  ['critic.microBatchSizePerGpu', 'critic.ppo_micro_batch_size_per_gpu'],
  ['critic.parameterOffload', 'critic.model.fsdp_config.param_offload'],
  ['critic.optimizerOffload', 'critic.model.fsdp_config.optimizer_offload'],
];

/** Which field of a spec sets a key: overrides of these keys are refused with it. */
export const OWNED_KEYS: ReadonlyMap<string, string> = new Map([
  ...[...FIELDS, ...CRITIC_FIELDS].map(([path, key]): [string, string] => [
    key,
    `/${path.replaceAll('.', '/')}`,
  ]),
  ...ESTIMATOR_KEYS,
  ['trainer.max_critic_ckpt_to_keep', '/training/keepCheckpoints'],
  ['critic.model.use_remove_padding', '/model/removePadding'],
  ['critic.model.enable_gradient_checkpointing', '/model/gradientCheckpointing'],
]);

/** A field's value as it stands in the configuration; null if the key is omitted. */
function inConfiguration(value: unknown, form: Form = 'same'): HydraValue | null {
  if (form === 'every') return value === 0 ? -1 : (value as number);
  if (form === 'keep') return value === 0 ? null : (value as number);
  return value as HydraValue;
}

/** The inverse of what a field writes for a key of {@link OWNED_KEYS}: what a spec says for a value of the configuration; null: nothing. */
export function fieldValue(key: string, value: HydraValue | null): HydraValue | null {
  const form = FIELDS.find(([, one]) => one === key)?.[2] ?? 'same';
  const isOff = value === null || (form === 'every' && (value as number) < 0);
  return form !== 'same' && isOff ? 0 : value;
}

/** The overrides that a resolved spec's plain fields ask for: every one that the spec has. */
export function fieldOverrides(spec: ResolvedVerlAgent): [key: string, value: HydraValue | null][] {
  const plain = FIELDS.flatMap(([path, key, form]): [string, HydraValue | null][] => {
    const value = valueAt(spec, path);
    return value === undefined ? [] : [[key, inConfiguration(value, form)]];
  });
  return [...plain, ...criticOverrides(spec)];
}

function criticOverrides(spec: ResolvedVerlAgent): [key: string, value: HydraValue | null][] {
  if (spec.critic === undefined) return [];
  return [
    ...CRITIC_FIELDS.map(([path, key]): [string, HydraValue] => [key, valueAt(spec, path) as HydraValue]),
    ['critic.model.use_remove_padding', spec.model.removePadding],
    ['critic.model.enable_gradient_checkpointing', spec.model.gradientCheckpointing],
    ['trainer.max_critic_ckpt_to_keep', inConfiguration(spec.training.keepCheckpoints, 'keep')],
  ];
}

/**
 * The field's default in a recipe: what its script passes, else what the configuration has. `read` gives a key's
 * value, null if unset. `maxGenerationBatches` has none: it counts only with dynamic sampling.
 */
export function fieldDefaults(
  read: (key: string) => HydraValue | null,
): Record<string, Record<string, unknown>> {
  const tree: Record<string, Record<string, unknown>> = {};
  for (const [path, key, form = 'same'] of FIELDS) {
    if (path === 'rollout.maxGenerationBatches') continue;
    const [section, field] = path.split('.') as [string, string];
    const value = read(key);
    tree[section] ??= {};
    const isUnset = value === null || (value as number) < 0;
    tree[section][field] = form !== 'same' && isUnset ? 0 : value;
  }
  return tree;
}
