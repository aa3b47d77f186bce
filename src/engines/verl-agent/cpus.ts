import { recipeOf } from './recipes.ts';
import type { ResolvedVerlAgent } from './spec.ts';

/** The CPUs that Ray must have free for a training or an evaluation; with fewer it hangs without a word. */
interface CpusNeeded {
  /** Environment actors, of training and validation. */
  actors: number;
  actorCpus: number;
  total: number;
}

/**
 * One actor per trajectory of a training step and one per game of a validation (an evaluation has only those), one
 * CPU for the trainer's process and one per GPU.
 */
export function cpusNeeded(
  spec: Pick<ResolvedVerlAgent, 'recipe' | 'rollout' | 'evaluation' | 'environment' | 'resources'>,
): CpusNeeded {
  const training = recipeOf(spec.recipe).phase === 'train' ? spec.rollout.groups * spec.rollout.groupSize : 0;
  const actors = training + spec.evaluation.games;
  const actorCpus = tenths(actors * spec.environment.cpusPerActor);
  return { actors, actorCpus, total: tenths(actorCpus + 1 + gpusOf(spec.resources)) };
}

/** The GPUs of all nodes. */
export function gpusOf({ gpus, nodes = 1 }: { gpus: number; nodes?: number }): number {
  return gpus * nodes;
}

/** Up to the next tenth, rounding errors of the product aside. */
function tenths(cpus: number): number {
  return Math.ceil(cpus * 10 - 1e-6) / 10;
}
