/**
 * The keys of verl-agent's merged configuration (`recipe/hgpo/config/hgpo_trainer.yaml` over
 * `verl/trainer/config/ppo_trainer.yaml`, upstream commit 20bd331; `algorithm.graphgpo` and
 * `env.webshop.observation_mode` are of `recipe/GraphGPO/config/graphgpo_trainer.yaml`) with their defaults: a line without indent is a
 * prefix, those below it are its keys. `<…>` refers to another key.
 */
const TABLE = `
data
  tokenizer=null use_shm=false train_files=~/data/rlhf/gsm8k/train.parquet
  val_files=~/data/rlhf/gsm8k/test.parquet prompt_key=prompt reward_fn_key=data_source
  max_prompt_length=512 max_response_length=512 train_batch_size=1024 val_batch_size=null
  return_raw_input_ids=false return_raw_chat=false return_full_prompt=false shuffle=true
  filter_overlong_prompts=false filter_overlong_prompts_workers=1 truncation=error image_key=images
  video_key=videos trust_remote_code=false apply_chat_template_kwargs={}
  gen_batch_size=<data.train_batch_size>
data.custom_cls
  path=null name=null
actor_rollout_ref
  hybrid_engine=true
actor_rollout_ref.model
  path=~/models/deepseek-llm-7b-chat use_shm=false external_lib=null override_config={}
  enable_gradient_checkpointing=true enable_activation_offload=false use_remove_padding=false
  lora_rank=0 lora_alpha=16 target_modules=all-linear use_liger=false use_fused_kernels=false
  trust_remote_code=false
actor_rollout_ref.actor
  strategy=fsdp ppo_mini_batch_size=256 ppo_micro_batch_size=null ppo_micro_batch_size_per_gpu=null
  use_dynamic_bsz=false ppo_max_token_len_per_gpu=16384 grad_clip=1.0 clip_ratio=0.2
  clip_ratio_low=0.2 clip_ratio_high=0.2 clip_ratio_c=3.0 loss_agg_mode=token-mean
  entropy_coeff=0.001 use_invalid_action_penalty=true invalid_action_penalty_coef=0.1
  use_kl_loss=false use_torch_compile=true kl_loss_coef=0.001 kl_loss_type=low_var_kl ppo_epochs=1
  shuffle=false ulysses_sequence_parallel_size=1
actor_rollout_ref.actor.policy_loss
  loss_mode=vanilla
actor_rollout_ref.actor.checkpoint
  contents=[model,optimizer,extra]
actor_rollout_ref.actor.optim
  lr=1e-06 lr_warmup_steps=-1 lr_warmup_steps_ratio=0.0 min_lr_ratio=0.0 num_cycles=0.5
  warmup_style=constant total_training_steps=-1 weight_decay=0.01
actor_rollout_ref.actor.fsdp_config.wrap_policy
  min_num_params=0
actor_rollout_ref.actor.fsdp_config
  param_offload=false optimizer_offload=false offload_policy=false reshard_after_forward=true
  fsdp_size=-1
actor_rollout_ref.ref
  strategy=fsdp use_torch_compile=<actor_rollout_ref.actor.use_torch_compile>
  log_prob_micro_batch_size=null log_prob_micro_batch_size_per_gpu=null
  log_prob_use_dynamic_bsz=<actor_rollout_ref.actor.use_dynamic_bsz>
  log_prob_max_token_len_per_gpu=<actor_rollout_ref.actor.ppo_max_token_len_per_gpu>
  ulysses_sequence_parallel_size=<actor_rollout_ref.actor.ulysses_sequence_parallel_size>
actor_rollout_ref.ref.fsdp_config
  param_offload=false reshard_after_forward=true
actor_rollout_ref.ref.fsdp_config.wrap_policy
  min_num_params=0
actor_rollout_ref.rollout
  name=vllm mode=sync chat_scheduler=null temperature=1.0 top_k=-1 top_p=1 use_fire_sampling=false
  prompt_length=<data.max_prompt_length> response_length=<data.max_response_length> dtype=bfloat16
  gpu_memory_utilization=0.5 ignore_eos=false enforce_eager=true free_cache_engine=true
  load_format=dummy_dtensor layered_summon=false tensor_model_parallel_size=2
  max_num_batched_tokens=8192 max_model_len=null max_num_seqs=1024 log_prob_micro_batch_size=null
  log_prob_micro_batch_size_per_gpu=null
  log_prob_use_dynamic_bsz=<actor_rollout_ref.actor.use_dynamic_bsz>
  log_prob_max_token_len_per_gpu=<actor_rollout_ref.actor.ppo_max_token_len_per_gpu>
  disable_log_stats=true enable_chunked_prefill=true do_sample=true n=1
actor_rollout_ref.rollout.engine_kwargs.vllm
  swap_space=null
actor_rollout_ref.rollout.engine_kwargs.sglang
  attention_backend=null
actor_rollout_ref.rollout.val_kwargs
  top_k=-1 top_p=1.0 temperature=0 n=1 do_sample=false
actor_rollout_ref.rollout.multi_turn
  enable=false max_turns=null tool_config_path=null format=chatml
critic
  rollout_n=<actor_rollout_ref.rollout.n> strategy=fsdp
  ppo_mini_batch_size=<actor_rollout_ref.actor.ppo_mini_batch_size> ppo_micro_batch_size=null
  ppo_micro_batch_size_per_gpu=null forward_micro_batch_size=<critic.ppo_micro_batch_size>
  forward_micro_batch_size_per_gpu=<critic.ppo_micro_batch_size_per_gpu>
  use_dynamic_bsz=<actor_rollout_ref.actor.use_dynamic_bsz> ppo_max_token_len_per_gpu=32768
  forward_max_token_len_per_gpu=<critic.ppo_max_token_len_per_gpu> ulysses_sequence_parallel_size=1
  ppo_epochs=<actor_rollout_ref.actor.ppo_epochs> shuffle=<actor_rollout_ref.actor.shuffle>
  grad_clip=1.0 cliprange_value=0.5 loss_agg_mode=<actor_rollout_ref.actor.loss_agg_mode>
critic.optim
  lr=1e-05 lr_warmup_steps_ratio=0.0 min_lr_ratio=null warmup_style=constant total_training_steps=-1
  weight_decay=0.01
critic.model
  path=~/models/deepseek-llm-7b-chat use_shm=false tokenizer_path=<actor_rollout_ref.model.path>
  override_config={} external_lib=<actor_rollout_ref.model.external_lib>
  enable_gradient_checkpointing=true enable_activation_offload=false use_remove_padding=false
  trust_remote_code=<actor_rollout_ref.model.trust_remote_code> lora_rank=0 lora_alpha=16
  target_modules=all-linear
critic.model.fsdp_config
  param_offload=false optimizer_offload=false offload_policy=false reshard_after_forward=true
  fsdp_size=-1
critic.model.fsdp_config.wrap_policy
  min_num_params=0
critic.checkpoint
  contents=[model,optimizer,extra]
reward_model
  enable=false strategy=fsdp micro_batch_size=null micro_batch_size_per_gpu=null max_length=null
  ulysses_sequence_parallel_size=1 use_dynamic_bsz=<critic.use_dynamic_bsz>
  forward_max_token_len_per_gpu=<critic.forward_max_token_len_per_gpu> reward_manager=episode
  launch_reward_fn_async=false
reward_model.model
  input_tokenizer=<actor_rollout_ref.model.path> path=~/models/FsfairX-LLaMA3-RM-v0.1 use_shm=false
  external_lib=<actor_rollout_ref.model.external_lib> use_remove_padding=false
  use_fused_kernels=<actor_rollout_ref.model.use_fused_kernels> trust_remote_code=false
reward_model.model.fsdp_config.wrap_policy
  min_num_params=0
reward_model.model.fsdp_config
  param_offload=false reshard_after_forward=true fsdp_size=-1
reward_model.sandbox_fusion
  url=null max_concurrent=64
reward_model.overlong_buffer
  enable=false len=0 penalty_factor=0.0 log=false
custom_reward_function
  path=null name=compute_score
algorithm
  gamma=1.0 lam=1.0 adv_estimator=gae norm_adv_by_std_in_grpo=true use_kl_in_reward=false
  kl_penalty=kl use_pf_ppo=false
algorithm.kl_ctrl
  type=fixed kl_coef=0.001 horizon=10000 target_kl=0.1
algorithm.pf_ppo
  reweight_method=pow weight_pow=2.0
algorithm.gigpo
  step_advantage_w=1.0 mode=mean_norm enable_similarity=false similarity_thresh=0.95
algorithm.filter_groups
  enable=false max_num_gen_batches=0 metric=null
algorithm.graphgpo
  step_advantage_w=1.0 episode_advantage_w=1.0 mode=mean_std_norm normalize_distance=false
  enable_similarity=false similarity_thresh=0.95
algorithm.hgpo
  mode=mean_std_norm weight_type=length length_weight_alpha=1.0 base_group=false
trainer
  balance_batch=true total_epochs=30 total_training_steps=null project_name=verl-hgpo
  experiment_name=gsm8k logger=[console,wandb] log_val_generations=0 rollout_data_dir=null
  validation_data_dir=null nnodes=1 n_gpus_per_node=8 save_freq=-1 resume_mode=auto
  resume_from_path=null val_before_train=true val_only=false test_freq=-1 critic_warmup=0
  default_hdfs_dir=null del_local_ckpt_after_load=false
  default_local_dir=checkpoints/<trainer.project_name>/<trainer.experiment_name>
  max_actor_ckpt_to_keep=null max_critic_ckpt_to_keep=null ray_wait_register_center_timeout=300
  device=cuda val_out=false
ray_init
  num_cpus=null
env
  env_name=alfworld/AlfredTWEnv seed=0 max_steps=50 history_length=2
env.resources_per_worker
  num_cpus=0.1 num_gpus=0
env.rollout
  n=1
env.alfworld
  eval_dataset=eval_in_distribution
env.search
  log_requests=false search_url=http://127.0.0.1:8000/retrieve topk=3 timeout=60
env.sokoban
  dim_room=[6,6] num_boxes=1 search_depth=30 mode=tiny_rgb_array
env.webshop
  use_small=true human_goals=false observation_mode=text
`;

/** Default of every key of the merged configuration, as text; references are followed by {@link mergedDefault}. */
export const MERGED_CONFIG: ReadonlyMap<string, string> = new Map(entries());

/**
 * The default of a key, references followed: `null`, `true`, a number, a list `[a,b]` or a text. Undefined where the
 * configuration has no such key; Hydra refuses to set one.
 */
export function mergedDefault(key: string): string | undefined {
  const value = MERGED_CONFIG.get(key);
  const reference = value === undefined ? null : /^<(.+)>$/.exec(value);
  return reference ? mergedDefault(reference[1]!) : value;
}

function* entries(): Generator<[string, string]> {
  let prefix = '';
  for (const line of TABLE.split('\n').filter((one) => one !== '')) {
    if (!line.startsWith(' ')) prefix = line;
    else {
      for (const pair of line.trim().split(' ')) {
        const at = pair.indexOf('=');
        yield [`${prefix}.${pair.slice(0, at)}`, pair.slice(at + 1)];
      }
    }
  }
}
