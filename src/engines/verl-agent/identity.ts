import { createHash } from 'node:crypto';
import { readHydraText } from './hydra.ts';

/**
 * Keys that change no number of a training: where files are, what is shown, how often it is saved, and how many steps
 * there are, so that a training can be prolonged.
 */
const NEUTRAL = [
  /^data\.(train_files|val_files)$/,
  /^data\.custom_cls\./,
  /^data\.filter_overlong_prompts_workers$/,
  /^\+data\.dataloader_num_workers$/,
  /^trainer\.(logger|project_name|experiment_name|default_local_dir|save_freq|total_epochs)$/,
  /^trainer\.(max_actor_ckpt_to_keep|max_critic_ckpt_to_keep|log_val_generations)$/,
  /^trainer\.(ray_wait_register_center_timeout|del_local_ckpt_after_load)$/,
  /^env\.resources_per_worker\.num_cpus$/,
  /^hydra\./,
];

/** Environment variables that change no number: where things are, trackers, and how GPUs talk to each other. */
const NEUTRAL_VARIABLE =
  /^(HF|WANDB|MLFLOW|SWANLAB|CLEARML|VOLC|MLP|NCCL)_|^(ALFWORLD_DATA|VERL_AGENT_HOME|TENSORBOARD_DIR|TRANSFORMERS_OFFLINE|TZ)$/;

/** The environment variables of a spec that may change a number of its training, as sorted texts. */
export function countedVariables(env: Readonly<Record<string, string>> = {}): string[] {
  return Object.entries(env)
    .filter(([name]) => !NEUTRAL_VARIABLE.test(name))
    .map(([name, value]) => `${name}=${value}`)
    .sort();
}

/** Keys by which the number of steps shapes the learning rate. */
const SCHEDULED = /\.optim\.(warmup_style|lr_warmup_steps_ratio)$/;

/** Ten hexadecimal digits that differ where anything differs that changes the numbers of a training. */
export function numbersHash(input: {
  entries: readonly (readonly [key: string, text: string])[];
  /** What counts besides: the kind of advantages. */
  besides: readonly string[];
}): string {
  const scheduled = input.entries.some(([key]) => SCHEDULED.test(key));
  const counted = input.entries
    .filter(([key]) => (scheduled && key === 'trainer.total_epochs') || !NEUTRAL.some((one) => one.test(key)))
    .map(([key, text]) => [key, readHydraText(text)])
    .sort(([left], [right]) => (String(left) < String(right) ? -1 : 1));
  return createHash('sha256')
    .update(JSON.stringify([counted, ...input.besides]))
    .digest('hex')
    .slice(0, 10);
}
