import type { DumpAdapter, Mapping } from '../adapter.ts';
import { ADAPTERS, adapterFor, adapterOf, fileStart } from '../registry.ts';
import type { StepAdapter } from './adapter.ts';
import { NEMO_RL_STEPS } from './nemo-rl.ts';
import { PRIME_RL_TOKENS } from './prime-rl.ts';
import { SKYRL_STEPS } from './skyrl.ts';
import { SLIME_STEPS } from './slime.ts';

/** All adapters of dumps with optimizer steps: the only list of them. */
export const STEP_ADAPTERS: readonly StepAdapter[] = [
  PRIME_RL_TOKENS,
  SKYRL_STEPS,
  NEMO_RL_STEPS,
  SLIME_STEPS,
];

/** All adapters, of advantages and of steps. */
export const ALL_ADAPTERS: readonly (DumpAdapter | StepAdapter)[] = [...ADAPTERS, ...STEP_ADAPTERS];

/** The adapter of a name, of advantages or of steps. Throws a RangeError that names those of advantages. */
export const anyAdapterOf = (name: string): DumpAdapter | StepAdapter =>
  STEP_ADAPTERS.find((adapter) => adapter.name === name) ?? adapterOf(name);

/** The adapter of the steps in the files of an adapter of advantages. */
export const stepsBesides = (name: string): StepAdapter | undefined =>
  STEP_ADAPTERS.find(({ besides }) => besides?.adapter === name);

/** As `adapterFor`, also for a file that holds optimizer steps and nothing else. */
export async function anyAdapterFor(
  path: string,
  map?: Mapping,
): Promise<DumpAdapter | StepAdapter | 'native' | undefined> {
  const found = await adapterFor(path, map);
  if (found !== undefined) return found;
  const start = await fileStart(path);
  return STEP_ADAPTERS.find((adapter) => adapter.matches?.(start) === true);
}
