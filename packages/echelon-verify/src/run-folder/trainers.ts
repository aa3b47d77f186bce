/** The trainers whose folders are recognised: what they write, what turns it on, and what records the rest. */

import { shellWord } from 'command-kit/shell-word';
import { type Settings, settingsOf } from '../dumps/config-yaml.ts';

/** A trainer that wrote a folder. */
export interface FoundTrainer {
  readonly name: TrainerName;
  readonly version?: string;
  /** The file or folder that tells it. */
  readonly by: string;
  /** The folder of the run, absolute. */
  readonly run: string;
  /** Its configuration; empty if the dumps alone tell the trainer. */
  readonly settings: Settings;
  /** Class of the arguments, for trainers that save them. */
  readonly type?: string;
  /** How verl was started. */
  readonly start?: HydraStart;
}

/** How a program with Hydra was started. */
export interface HydraStart {
  /** Its working directory. */
  readonly folder?: string;
  /** Name of the module, such as `verl.trainer.main_ppo`. */
  readonly module?: string;
  /** Its arguments. */
  readonly overrides: readonly string[];
}

/** What a reader can do next, with the command if there is one. */
export interface NextLine {
  readonly text: string;
  /** Lines to copy: a command, or lines of a script of the reader. */
  readonly copy?: readonly string[];
  /** The lines need the package echelon-capture in the trainer's Python. */
  readonly needsCapture?: true;
}

/** What a trainer writes, and how to have the rest recorded. */
export interface TrainerFacts {
  readonly title: string;
  /** Names of its packages, of which the first found tells the version. */
  readonly packages: readonly string[];
  /** Files that can be verified, as people look for them. */
  readonly files: string;
  /** What has the trainer write them. */
  readonly turnedOnBy: string;
  /** The trainer in whose format it writes, if not its own. */
  readonly writesAs?: string;
  /** Records the advantages if its files have none. */
  advantages(found: FoundTrainer): NextLine;
  /** Has the run state its estimator. */
  estimator?(found: FoundTrainer): NextLine;
  /** Records the optimizer steps. */
  steps?(found: FoundTrainer): NextLine;
}

/** Names of the trainers. */
export type TrainerName =
  | 'trl'
  | 'unsloth'
  | 'ms-swift'
  | 'nemo-rl'
  | 'slime'
  | 'prime-rl'
  | 'verl'
  | 'verl-agent'
  | 'rllm'
  | 'roll'
  | 'skyrl'
  | 'tinker-cookbook'
  | 'art'
  | 'areal';

/** True for the name of a trainer. */
export const isTrainer = (name: string): name is TrainerName => Object.hasOwn(TRAINERS, name);

const TRL: TrainerFacts = {
  title: 'TRL',
  packages: ['trl'],
  files: 'completions/*.parquet',
  turnedOnBy: 'log_completions=True',
  advantages: ({ run, settings, type = '' }) => {
    if (type !== '' && !/GRPO/i.test(type))
      return ownCall('TRL writes no completions of this trainer to disk.');
    // Versions with this setting write the completions to disk.
    if (type === '' || 'log_completions_hub_repo' in settings)
      return {
        text: `Set it in the GRPOConfig of the script that made ${run}; TRL 0.29 and later then write ${run}/completions`,
        copy: ['log_completions=True'],
      };
    return {
      text: 'This version of TRL writes no completions to disk. Update it to 0.29 or later, or add these lines before trainer.train()',
      copy: ['from echelon_capture.trl import follow', 'follow(trainer)'],
      needsCapture: true,
    };
  },
  estimator: ({ run }) => ({
    text: `The estimator was inferred. Have the script state it in ${run}/training_args.bin, after trainer.train()`,
    copy: [`trainer.save_model(${JSON.stringify(run)})`],
  }),
  steps: () => ({
    text: 'Loss, clipping and KL of the next run: add these lines before trainer.train()',
    copy: ['from echelon_capture.trl_steps import follow_steps', 'follow_steps(trainer)'],
    needsCapture: true,
  }),
};

const VERL: TrainerFacts = {
  title: 'verl',
  packages: ['verl'],
  files: 'N.jsonl, and .hydra/config.yaml',
  turnedOnBy: 'trainer.rollout_data_dir=DIR',
  advantages: ({ start }) => ({
    text: 'verl writes no advantages to disk. This launcher records them, and every tenth optimizer step; a shell script works in place of python3',
    copy: launched(start),
    needsCapture: true,
  }),
};

/** All trainers by name. */
export const TRAINERS: Readonly<Record<TrainerName, TrainerFacts>> = {
  trl: TRL,
  unsloth: { ...TRL, title: 'Unsloth', packages: ['unsloth'], writesAs: 'trl' },
  'ms-swift': {
    title: 'ms-swift',
    packages: ['ms-swift'],
    files: 'completions.jsonl, and args.json',
    turnedOnBy: '--log_completions true',
    advantages: ({ run }) => ({
      text: `Add it to the command that made ${run}`,
      copy: ['--log_completions true'],
    }),
    estimator: ({ run }) => ({
      text: `The estimator was inferred. ms-swift writes args.json into its output folder: keep it as ${run}/args.json`,
    }),
    steps: () => ({
      text: 'Loss, clipping and KL of the next run: add these lines before trainer.train()',
      copy: ['from echelon_capture.swift_steps import follow_steps', 'follow_steps(trainer)'],
      needsCapture: true,
    }),
  },
  'nemo-rl': {
    title: 'NeMo-RL',
    packages: ['nemo-rl'],
    files: 'train_data_stepN.jsonl, and config.yaml',
    turnedOnBy: 'default',
    advantages: ({ settings }) => ({
      text: `NeMo-RL writes them by default to logger.log_dir, here ${textAt(settings, ['logger', 'log_dir']) ?? 'LOG_DIR'}: verify that folder, and leave env.should_log_nemo_gym_responses off`,
    }),
    estimator: ({ run }) => ({
      text: `The estimator was inferred. Keep the configuration of the run as ${run}/config.yaml`,
    }),
  },
  slime: {
    title: 'slime or miles',
    packages: ['slime'],
    files: 'rollout_data/N.pt, train_data/N_RANK.pt, and args.json',
    turnedOnBy: '--dump-details DIR',
    advantages: ({ run }) => ({
      text: `Add it to the command that made ${run}, for advantages and steps`,
      copy: [`--dump-details ${run}/dumps`],
    }),
    estimator: ({ run }) => ({
      text: `The estimator was inferred. Put the script that starts the run beside the dumps, into ${run}`,
    }),
  },
  'prime-rl': {
    title: 'prime-rl',
    packages: ['prime-rl'],
    files: 'rollouts/step_N/train/*/traces.jsonl, and configs/orchestrator.toml',
    turnedOnBy: 'default',
    advantages: ({ run }) => ({
      text: `prime-rl writes them by default: verify ${run}/rollouts of a run with monitors.file`,
    }),
    estimator: ({ run }) => ({
      text: `The estimator was inferred. Keep ${run}/configs/orchestrator.toml, which prime-rl writes`,
    }),
    steps: ({ run }) => ({
      text: `Ratios, clipping and loss of the next run: set it in the rl.toml of ${run}`,
      copy: ['trainer.enable_token_export = true'],
    }),
  },
  verl: VERL,
  'verl-agent': { ...VERL, title: 'verl-agent', writesAs: 'verl' },
  rllm: {
    title: 'rLLM',
    packages: ['rllm'],
    files: 'one JSON file for each episode',
    turnedOnBy: 'episode_logging.log_episodes',
    advantages: () => ownCall('rLLM writes no advantages to disk.'),
  },
  roll: {
    title: 'ROLL',
    packages: ['roll'],
    files: 'rollout_dump_data.step_N.jsonl',
    turnedOnBy: 'rollout_dump_dir',
    advantages: () => ownCall('ROLL writes no advantages to disk.'),
  },
  skyrl: {
    title: 'SkyRL',
    packages: ['skyrl'],
    files: 'dumped_data/global_step_N_training_input.pkl',
    turnedOnBy: 'trainer.dump_data_batch=true',
    advantages: () => ownCall('SkyRL drops rewards and groups before it writes.'),
    steps: () => ({
      text: 'Ratios and masks of the next run: add this argument',
      copy: ['trainer.dump_data_batch=true'],
    }),
  },
  'tinker-cookbook': {
    title: 'tinker-cookbook',
    packages: ['tinker-cookbook'],
    files: 'iteration_N/train_rollout_summaries.jsonl',
    turnedOnBy: 'default',
    advantages: () => ownCall('tinker-cookbook writes no advantages to disk.'),
  },
  art: {
    title: 'ART',
    packages: ['openpipe-art'],
    files: 'trajectories/train/N.parquet',
    turnedOnBy: 'default',
    advantages: () => ownCall('ART writes no advantages to disk.'),
  },
  areal: {
    title: 'AReaL',
    packages: ['areal'],
    files: 'rollout/VERSION/TASK.jsonl',
    turnedOnBy: 'rollout.dump_to_file',
    advantages: () => ownCall('AReaL writes no advantages to disk.'),
  },
};

/** The call that any Python trainer can make. */
function ownCall(why: string): NextLine {
  return {
    text: `${why} Call the hook in the trainer, right after it computed them (columns: docs/guides/batch-from-a-trainer.md)`,
    copy: [
      'import echelon_capture as capture',
      'capture.batch(step, estimator=dict(name="grpo"), group=prompt_ids, trajectory=response_ids, token_level_reward_sum=rewards, advantage=advantages)',
    ],
    needsCapture: true,
  };
}

/** Characters of arguments that are repeated; longer ones are named by their number. */
const MAX_ARGUMENTS = 2_000;

/** The command of a run, started by the launcher of the hook. */
function launched(start: HydraStart | undefined): string[] {
  const words = (start?.overrides ?? []).map(shellWord).join(' ');
  const given =
    words.length > MAX_ARGUMENTS
      ? `… # the ${start!.overrides.length} arguments of .hydra/overrides.yaml`
      : words;
  const module = start?.module ?? 'verl.trainer.main_ppo';
  const command = `echelon-capture run -- python3 -m ${module} ${given}`.trimEnd();
  const { folder } = start ?? {};
  if (folder === undefined) return [command, 'echelon-verify echelon-capture'];
  return [`cd ${shellWord(folder)}`, command, 'echelon-verify echelon-capture'];
}

function textAt(settings: unknown, path: readonly string[]): string | undefined {
  const value = path.reduce<unknown>((at, key) => settingsOf(at)?.[key], settings);
  return typeof value === 'string' ? value : undefined;
}
