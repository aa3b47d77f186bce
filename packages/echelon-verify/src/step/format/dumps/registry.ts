import { fileStart } from '../../../format/dumps/registry.ts';
import { NEMO_RL_STEPS } from './nemo-rl.ts';
import { PRIME_RL_TOKENS } from './prime-rl.ts';
import { SKYRL_STEPS } from './skyrl.ts';
import { SLIME_STEPS } from './slime.ts';
import type { StepAdapter } from './step-adapter.ts';

/** All adapters of dumps with optimizer steps: the only list of them. */
export const STEP_ADAPTERS: readonly StepAdapter[] = [
  PRIME_RL_TOKENS,
  SKYRL_STEPS,
  NEMO_RL_STEPS,
  SLIME_STEPS,
];

/** The adapter of a file that holds optimizer steps and nothing else; undefined for any other file. */
export async function stepAdapterFor(path: string): Promise<StepAdapter | undefined> {
  const start = await fileStart(path);
  return STEP_ADAPTERS.find((adapter) => adapter.matches?.(start) === true);
}
