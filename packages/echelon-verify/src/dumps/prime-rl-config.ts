/**
 * The configuration of a prime-rl run: `configs/orchestrator.toml`, which its launcher writes with every default, or the
 * `rl.toml` of the run, which has the same below `orchestrator`.
 */

import { dirname, join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import type { FoundConfiguration } from './adapter.ts';
import { readSmall, type Settings, settingsOf } from './config-yaml.ts';
import { estimatorOfSettings } from './dump-batch.ts';
import { foldersOfRun } from './run-folders.ts';

const NAMES = ['orchestrator.toml', 'rl.toml'];

/** Settings of an algorithm that leave the advantages as they are. */
const NEUTRAL = ['type', 'sampling', 'failsafe_min_members', 'loss_aggregation', 'roles', 'filter'];

/**
 * The configuration near `OUTPUT/rollouts/step_N/train/…/traces.jsonl`, in `OUTPUT` or `OUTPUT/configs`; undefined if none
 * states the algorithm.
 */
export async function findPrimeRlConfig(traces: string): Promise<FoundConfiguration | undefined> {
  const step = dirname(dirname(dirname(traces)));
  for (const folder of foldersOfRun(step, 'rollouts')) {
    for (const file of [join(folder, 'configs'), folder].flatMap((one) =>
      NAMES.map((name) => join(one, name)),
    )) {
      const found = await readConfig(file);
      if (found !== undefined) return { file, options: {}, estimator: found };
    }
  }
  return undefined;
}

async function readConfig(file: string): Promise<FoundConfiguration['estimator'] | undefined> {
  const bytes = await readSmall(file);
  if (bytes === undefined) return undefined;
  const { parse, TomlError } = await import('smol-toml');
  try {
    const whole = parse(Buffer.from(bytes).toString('utf8'));
    return estimatorOf(settingsOf(whole.orchestrator) ?? whole);
  } catch (error) {
    if (!(error instanceof TomlError)) throw error;
    const [reason] = error.message.split('\n');
    return { unreadable: `line ${error.line}: ${reason}` };
  }
}

/** Undefined if the file does not state an algorithm. */
function estimatorOf(orchestrator: Settings): FoundConfiguration['estimator'] | undefined {
  const [first, ...others] = algorithmsOf(orchestrator).map(decidingOf);
  if (first?.type === undefined) return undefined;
  if (others.some((own) => !isDeepStrictEqual(own, first)))
    return { unsupported: 'different algorithms for its environments' };
  const stated = Object.entries(first).map(([key, value]) => `algo.${key}=${JSON.stringify(value)}`);
  const known = stated.length === 1 ? estimatorOfSettings('prime-rl', first) : undefined;
  if (known !== undefined) return known;
  return { unsupported: stated.join(', ') };
}

/** Those of the environments, which take over the algorithm of the run if they have none. */
function algorithmsOf({ algo, train }: Settings): Settings[] {
  const env = settingsOf(train)?.env;
  const environments = Array.isArray(env) ? env.map(settingsOf) : [];
  const own = environments.map((one) => settingsOf(one?.algo ?? algo));
  return (own.length > 0 ? own : [settingsOf(algo)]).filter((one) => one !== undefined);
}

/** The type, and each setting that is switched on and can change advantages. */
function decidingOf(algorithm: Settings): Settings {
  const isOn = ([key, value]: [string, unknown]) => !NEUTRAL.includes(key) && value !== false && value !== 0;
  return { type: algorithm.type, ...Object.fromEntries(Object.entries(algorithm).filter(isOn)) };
}
