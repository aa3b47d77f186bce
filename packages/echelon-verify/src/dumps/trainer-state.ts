import { join } from 'node:path';
import { readSmall, type Settings, settingsOf } from './config-yaml.ts';
import { PickJsonError, pickJson } from './pick-json.ts';
import { numberOf } from './rewards.ts';
import { foldersOfRun } from './run-folders.ts';
import { checkpointsIn } from './training-args.ts';

/** Rewards as a trainer logged them: the total, and the mean of each function. */
export interface LoggedRewards {
  readonly reward: number;
  readonly means: ReadonlyMap<string, number>;
}

/** What a trainer of the transformers family recorded of a run, up to `step`. */
export interface TrainerState {
  readonly step: number;
  readonly maxSteps?: number;
  /** Steps at which it evaluated. */
  readonly evaluated: readonly number[];
  /** Names of the reward functions. */
  readonly rewards: readonly string[];
  /** True if the total reward is not that of the named functions: two functions share a name. */
  readonly sharesNames: boolean;
  /** Rewards by step, of the training. */
  readonly logged: ReadonlyMap<number, LoggedRewards>;
}

const SELECTION = { global_step: true, max_steps: true, log_history: true } as const;
/** A longer record is not read. */
const MAX_BYTES = 2 ** 26;

/** The record of the finished run near a file, or of its newest checkpoint. Undefined if there is none. */
export async function findTrainerState(
  file: string,
  folders: readonly string[] = foldersOfRun(file),
): Promise<TrainerState | undefined> {
  for (const folder of folders) {
    const newest = checkpointsIn(folder).map((step) => join(folder, `checkpoint-${step}`));
    for (const place of [folder, ...newest.toReversed()]) {
      const bytes = await readSmall(join(place, 'trainer_state.json'), MAX_BYTES);
      const state = bytes && stateOf(new Uint8Array(bytes));
      if (state !== undefined) return state;
    }
  }
  return undefined;
}

function stateOf(bytes: Uint8Array): TrainerState | undefined {
  const state = settingsOf(parsed(bytes));
  if (state === undefined || !Array.isArray(state.log_history)) return undefined;
  const history = state.log_history.map(settingsOf).filter((entry) => entry !== undefined);
  const maxSteps = numberOf(state.max_steps);
  return {
    step: numberOf(state.global_step),
    ...(maxSteps > 0 ? { maxSteps } : {}),
    evaluated: [...new Set(history.filter(isEvaluation).map(({ step }) => numberOf(step)))],
    rewards: [...new Set(history.flatMap((entry) => [...meansIn(entry).keys()]))],
    sharesNames: history.some(hasHiddenReward),
    logged: new Map(
      history.flatMap((entry): [number, LoggedRewards][] => {
        const means = meansIn(entry);
        const reward = numberOf(entry.reward);
        return means.size > 0 && Number.isFinite(reward) ? [[numberOf(entry.step), { reward, means }]] : [];
      }),
    ),
  };
}

function parsed(bytes: Uint8Array): unknown {
  try {
    return pickJson(bytes, SELECTION);
  } catch (error) {
    if (error instanceof PickJsonError) return undefined;
    throw error;
  }
}

function isEvaluation(entry: Settings): boolean {
  return Object.keys(entry).some((key) => key.startsWith('eval_'));
}

/** The mean of each reward function, of an entry of the training. */
function meansIn(entry: Settings): Map<string, number> {
  const keys = Object.keys(entry).map((key) => [key, /^rewards\/(.+)\/mean$/.exec(key)?.[1]] as const);
  return new Map(keys.flatMap(([key, name]) => (name === undefined ? [] : [[name, numberOf(entry[key])]])));
}

/** Functions of one name are logged by the mean over all of them, and the total reward is their sum. */
function hasHiddenReward(entry: Settings): boolean {
  const [mean, ...others] = meansIn(entry).values();
  const total = numberOf(entry.reward);
  if (mean === undefined || others.length > 0) return false;
  const functions = Math.round(total / mean);
  return functions >= 2 && Math.abs(total - functions * mean) <= 1e-4 * Math.abs(total);
}
