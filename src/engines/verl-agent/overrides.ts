import { nearestName } from 'command-kit/nearest';
import type { FieldProblem } from '../../core/errors.ts';
import { clip, escapePointer } from '../../schemas/json.ts';

/** What an override's value may be. */
type Kind =
  | { kind: 'boolean' }
  | { kind: 'integer' | 'number'; minimum: number; maximum: number }
  | { kind: 'choice'; values: readonly string[] }
  | { kind: 'word' };

const BOOLEAN: Kind = { kind: 'boolean' };
const WORD: Kind = { kind: 'word' };
const integer = (minimum: number, maximum = 1e9): Kind => ({ kind: 'integer', minimum, maximum });
const number = (minimum: number, maximum = 1e9): Kind => ({ kind: 'number', minimum, maximum });
const choice = (...values: string[]): Kind => ({ kind: 'choice', values });

/** Keys of verl-agent's configuration that a spec may set without a field of their own. */
export const ALLOWED_OVERRIDES: Readonly<Record<string, Kind>> = {
  'data.truncation': choice('left', 'right', 'middle', 'error'),
  'data.shuffle': BOOLEAN,
  'data.filter_overlong_prompts': BOOLEAN,
  'data.filter_overlong_prompts_workers': integer(1, 256),
  '+data.seed': integer(0, 2147483647),
  '+data.dataloader_num_workers': integer(0, 256),
  'actor_rollout_ref.model.target_modules': WORD,
  'actor_rollout_ref.model.use_liger': BOOLEAN,
  'actor_rollout_ref.model.use_fused_kernels': BOOLEAN,
  'actor_rollout_ref.model.use_shm': BOOLEAN,
  'actor_rollout_ref.model.enable_activation_offload': BOOLEAN,
  'actor_rollout_ref.actor.strategy': choice('fsdp', 'fsdp2'),
  'actor_rollout_ref.actor.use_dynamic_bsz': BOOLEAN,
  'actor_rollout_ref.actor.ppo_max_token_len_per_gpu': integer(1),
  'actor_rollout_ref.actor.grad_clip': number(0, 1e6),
  'actor_rollout_ref.actor.clip_ratio': number(0, 10),
  'actor_rollout_ref.actor.clip_ratio_c': number(1, 1000),
  'actor_rollout_ref.actor.shuffle': BOOLEAN,
  'actor_rollout_ref.actor.use_torch_compile': BOOLEAN,
  'actor_rollout_ref.actor.ulysses_sequence_parallel_size': integer(1, 1024),
  'actor_rollout_ref.actor.policy_loss.loss_mode': choice('vanilla', 'gspo'),
  'actor_rollout_ref.actor.optim.lr_warmup_steps': integer(-1),
  'actor_rollout_ref.actor.optim.lr_warmup_steps_ratio': number(0, 1),
  'actor_rollout_ref.actor.optim.min_lr_ratio': number(0, 1),
  'actor_rollout_ref.actor.optim.num_cycles': number(0, 1000),
  'actor_rollout_ref.actor.optim.warmup_style': choice('constant', 'cosine'),
  'actor_rollout_ref.actor.optim.weight_decay': number(0, 10),
  'actor_rollout_ref.actor.fsdp_config.fsdp_size': integer(-1, 1024),
  'actor_rollout_ref.actor.fsdp_config.offload_policy': BOOLEAN,
  'actor_rollout_ref.actor.fsdp_config.reshard_after_forward': BOOLEAN,
  'actor_rollout_ref.ref.fsdp_config.reshard_after_forward': BOOLEAN,
  'actor_rollout_ref.rollout.top_k': integer(-1),
  'actor_rollout_ref.rollout.top_p': number(0, 1),
  'actor_rollout_ref.rollout.dtype': choice('bfloat16', 'float16', 'float32'),
  'actor_rollout_ref.rollout.ignore_eos': BOOLEAN,
  'actor_rollout_ref.rollout.load_format': choice('dummy_dtensor', 'dummy', 'safetensors', 'auto'),
  'actor_rollout_ref.rollout.layered_summon': BOOLEAN,
  'actor_rollout_ref.rollout.max_num_batched_tokens': integer(1),
  'actor_rollout_ref.rollout.max_model_len': integer(1),
  'actor_rollout_ref.rollout.max_num_seqs': integer(1),
  'actor_rollout_ref.rollout.disable_log_stats': BOOLEAN,
  'actor_rollout_ref.rollout.engine_kwargs.vllm.swap_space': integer(0, 4096),
  'actor_rollout_ref.rollout.engine_kwargs.sglang.attention_backend': choice(
    'flashinfer',
    'triton',
    'flashmla',
  ),
  'actor_rollout_ref.rollout.val_kwargs.top_k': integer(-1),
  'actor_rollout_ref.rollout.val_kwargs.top_p': number(0, 1),
  'critic.optim.lr_warmup_steps_ratio': number(0, 1),
  'critic.optim.warmup_style': choice('constant', 'cosine'),
  'critic.optim.weight_decay': number(0, 10),
  'critic.grad_clip': number(0, 1e6),
  'critic.cliprange_value': number(0, 1000),
  'critic.model.fsdp_config.fsdp_size': integer(-1, 1024),
  'algorithm.use_kl_in_reward': BOOLEAN,
  'env.webshop.use_small': BOOLEAN,
  'env.webshop.human_goals': BOOLEAN,
  'trainer.balance_batch': BOOLEAN,
  'trainer.critic_warmup': integer(0),
  'trainer.log_val_generations': integer(0, 100000),
  'trainer.ray_wait_register_center_timeout': integer(1, 86400),
  'trainer.del_local_ckpt_after_load': BOOLEAN,
};

/** Keys by which code is loaded; they need `allowCustomCode`. */
export const CODE_OVERRIDES: Readonly<Record<string, Kind>> = {
  'actor_rollout_ref.model.external_lib': WORD,
  'actor_rollout_ref.model.trust_remote_code': BOOLEAN,
  'data.trust_remote_code': BOOLEAN,
  'reward_model.model.trust_remote_code': BOOLEAN,
  'critic.model.external_lib': WORD,
  'critic.model.trust_remote_code': BOOLEAN,
};

/** Whether an override of {@link CODE_OVERRIDES} is set and not false. */
export function loadsCode(overrides: Readonly<Record<string, unknown>> = {}): boolean {
  return Object.entries(overrides).some(
    ([key, value]) => Object.hasOwn(CODE_OVERRIDES, key) && value !== false,
  );
}

/** Why a key is refused, by a pattern of keys; the first that matches counts. */
const REFUSED: readonly (readonly [RegExp, string])[] = [
  [/(^|\.)_(target|partial|args|recursive|convert)_$/, 'would let Hydra call code of its choice'],
  [/^hydra(\.|$)/, "is Hydra's own: it decides where files go and which code runs"],
  [/^(ray_init|ray_kwargs)(\.|$)/, 'belongs to the connection with Ray, which the cluster decides'],
  [/^custom_reward_function(\.|$)/, 'has no effect: the recipe always uses its own reward manager'],
  [/^data\.custom_cls(\.|$)/, 'loads code; the capture hook that records the advantages stands there'],
  [
    /^trainer\.(resume_mode|resume_from_path)$/,
    'reads a path; evaluations name one in /evaluation/checkpoint',
  ],
  [/^data\.(train_files|val_files)$/, 'reads a path; every attempt has data files of its own'],
  [
    /^trainer\.(default_local_dir|default_hdfs_dir|rollout_data_dir|validation_data_dir)$/,
    'is a path; the plan keeps the runs apart by it',
  ],
  [/(^|\.)(tool_config_path|tokenizer_path|input_tokenizer|chat_scheduler)$/, 'reads a file or loads code'],
  [/^reward_model\.sandbox_fusion(\.|$)/, 'sends data to a server'],
  [/^algorithm\.hgpo\.epsilon$/, 'is not a key: the trainer fixes epsilon at 1e-6'],
  [/^env\.alfworld\.eval_dataset$/, 'is ignored by the recipe; set /evaluation/split'],
  [/^trainer\.val_out$/, 'means the opposite of its documentation; set /evaluation/split'],
  [/^trainer\.(val_only|val_before_train)$/, 'follows from the recipe and /training/evaluateBefore'],
  [
    /^trainer\.(project_name|experiment_name)$/,
    'is made by the plan, so that no two different runs share a name',
  ],
  [/^trainer\.total_training_steps$/, 'would contradict /training/steps'],
  [/^actor_rollout_ref\.rollout\.n$/, 'must be 1 in this trainer; set /rollout/groupSize'],
  [
    /^actor_rollout_ref\.rollout\.(val_kwargs\.)?seed$/,
    'would give every request of a group the same random stream, so that its trajectories repeat each other',
  ],
  [/^actor_rollout_ref\.rollout\.val_kwargs\.n$/, 'must stay 1; set /evaluation/rounds'],
  [
    /^data\.(return_raw_chat|val_batch_size)$/,
    'is needed as it is by the rollout; games are in /evaluation/games',
  ],
  [/^algorithm\.gigpo\.(enable_similarity|similarity_thresh)$/, "is read by verl-agent's other trainer only"],
  [/^env\.env_name$/, 'follows from the recipe'],
];

/** The form of text in an override: nothing that Hydra, OmegaConf or a shell reads as more than text. */
const PLAIN = /^(?!.*\.\.)[A-Za-z0-9_][A-Za-z0-9_./:-]*$/;

/**
 * What is wrong with a spec's overrides, each with the key's JSON pointer and the remedy. `owned` says which field of
 * the spec sets a key. Values that Hydra would resolve (`${…}`) and prefixes that add or delete keys are refused.
 */
export function overrideProblems(
  overrides: Readonly<Record<string, unknown>>,
  { allowCustomCode, owned }: { allowCustomCode: boolean; owned: ReadonlyMap<string, string> },
): FieldProblem[] {
  return Object.entries(overrides).flatMap(([key, value]) => {
    const message =
      keyProblem(key, { allowCustomCode, owned }) ??
      valueProblem(value, (ALLOWED_OVERRIDES[key] ?? CODE_OVERRIDES[key])!);
    return message === undefined ? [] : [{ field: `/overrides/${escapePointer(clip(key, 100))}`, message }];
  });
}

function keyProblem(
  key: string,
  { allowCustomCode, owned }: { allowCustomCode: boolean; owned: ReadonlyMap<string, string> },
): string | undefined {
  if (Object.hasOwn(ALLOWED_OVERRIDES, key)) return undefined;
  if (Object.hasOwn(CODE_OVERRIDES, key)) {
    return allowCustomCode
      ? undefined
      : 'loads code; that needs allowCustomCode, and a key with the scope custom-code';
  }
  const plain = key.replace(/^[+~]+/, '');
  const field = owned.get(plain);
  if (field !== undefined) return `has a field of its own; set ${field}`;
  const reason = REFUSED.find(([pattern]) => pattern.test(plain))?.[1];
  if (reason !== undefined) return reason;
  if (key !== plain && !key.startsWith('+')) return 'would delete a key of the configuration';
  const near = nearestName(key, Object.keys(ALLOWED_OVERRIDES));
  return `is not a key that may be set${near === undefined ? '' : `; did you mean ${near}?`}`;
}

function valueProblem(value: unknown, rule: Kind): string | undefined {
  if (typeof value === 'string' && value.includes('${')) {
    return 'must not refer to other values: Hydra would resolve it on the cluster';
  }
  return fits(value, rule)
    ? undefined
    : `must be ${inWords(rule)}, but ${clip(JSON.stringify(value) ?? '')} came`;
}

function fits(value: unknown, rule: Kind): boolean {
  switch (rule.kind) {
    case 'boolean':
      return typeof value === 'boolean';
    case 'choice':
      return typeof value === 'string' && rule.values.includes(value);
    case 'word':
      return typeof value === 'string' && PLAIN.test(value);
    default:
      return (
        typeof value === 'number' &&
        Number.isFinite(value) &&
        (rule.kind === 'number' || Number.isSafeInteger(value)) &&
        value >= rule.minimum &&
        value <= rule.maximum
      );
  }
}

function inWords(rule: Kind): string {
  if (rule.kind === 'boolean') return 'true or false';
  if (rule.kind === 'choice') return `one of ${rule.values.join(', ')}`;
  if (rule.kind === 'word')
    return 'a plain word, a name or a path without "..": letters, digits and _ . / : -';
  return `${rule.kind === 'integer' ? 'an integer' : 'a number'} from ${rule.minimum} to ${rule.maximum}`;
}
