/** What the scripts of verl-agent's `recipe/GraphGPO` pass. Source: upstream commit 20bd331. */

type Entries = (readonly [key: string, value: string])[];

/** Mini-batch, rows at once and for log-probabilities, optimizer offload, share of the GPU's memory, CPUs of an environment. */
const SIZES: Readonly<Record<string, readonly [string, string, string, string, string, string]>> = {
  '1.5b alfworld': ['256', '32', '32', 'True', '0.5', '0.2'],
  '1.5b webshop': ['64', '8', '16', 'False', '0.6', '0.1'],
  '7b alfworld': ['64', '4', '16', 'True', '0.5', '0.2'],
  '7b webshop': ['64', '4', '16', 'True', '0.5', '0.2'],
};

/** The overrides of a script, in its order. `shared` are those of the HGPO script on data, model and rollout. */
export function graphgpoOverrides(
  {
    modelSize,
    environment,
  }: { readonly modelSize: '1.5b' | '7b'; readonly environment: 'alfworld' | 'webshop' },
  shared: Entries,
): Entries {
  const alfworld = environment === 'alfworld';
  const [mini, micro, logProb, offload, memory, cpus] = SIZES[`${modelSize} ${environment}`]!;
  const experiment = `graphgpo_qwen2.5_${modelSize}_${environment}`;
  const changed = new Map([
    ['data.max_prompt_length', alfworld ? '2048' : '5120'],
    ['data.truncation', 'error'],
    ['actor_rollout_ref.actor.ppo_mini_batch_size', mini],
    ['actor_rollout_ref.actor.ppo_micro_batch_size_per_gpu', micro],
    ['actor_rollout_ref.actor.fsdp_config.param_offload', 'False'],
    ['actor_rollout_ref.actor.fsdp_config.optimizer_offload', offload],
    ['actor_rollout_ref.rollout.log_prob_micro_batch_size_per_gpu', logProb],
    ['actor_rollout_ref.rollout.gpu_memory_utilization', memory],
    ['actor_rollout_ref.ref.log_prob_micro_batch_size_per_gpu', logProb],
  ]);
  return [
    ['algorithm.adv_estimator', 'graphgpo'],
    ['algorithm.gamma', alfworld ? '0.10' : '0.20'],
    ['algorithm.graphgpo.step_advantage_w', '1.0'],
    ['algorithm.graphgpo.episode_advantage_w', '1.0'],
    ['algorithm.graphgpo.mode', 'mean_std_norm'],
    ['algorithm.graphgpo.normalize_distance', 'False'],
    ['algorithm.use_kl_in_reward', 'False'],
    ...shared.flatMap(([key, value]): Entries => {
      const entry = [key, changed.get(key) ?? value] as const;
      // One HGPO script has no learning rate.
      const rate = ['actor_rollout_ref.actor.optim.lr', '1e-6'] as const;
      if (key === 'actor_rollout_ref.model.path') return [entry, rate];
      return key === rate[0] ? [] : [entry];
    }),
    ...ends(alfworld, cpus, { experiment, environment, gpus: modelSize === '7b' ? '4' : '2' }),
  ];
}

function ends(
  alfworld: boolean,
  cpus: string,
  { experiment, environment, gpus }: Readonly<Record<'experiment' | 'environment' | 'gpus', string>>,
): Entries {
  const observation: Entries = alfworld ? [] : [['env.webshop.observation_mode', 'text_rich']];
  return [
    ['env.env_name', alfworld ? 'alfworld/AlfredTWEnv' : 'webshop/WebAgentTextEnv'],
    ['env.seed', '0'],
    ['env.max_steps', alfworld ? '50' : '15'],
    ...observation,
    ['env.rollout.n', '8'],
    ['env.resources_per_worker.num_cpus', cpus],
    ['trainer.critic_warmup', '0'],
    ['trainer.logger', '[console,wandb]'],
    ['trainer.project_name', `verl_agent_${environment}`],
    ['trainer.experiment_name', experiment],
    ['trainer.n_gpus_per_node', gpus],
    ['trainer.nnodes', '1'],
    ['trainer.save_freq', '-1'],
    ['trainer.test_freq', '5'],
    ['trainer.total_epochs', '150'],
    ['trainer.default_local_dir', `{checkpointsDir}/${experiment}`],
    ['trainer.val_before_train', 'True'],
  ];
}
