import type { FieldProblem } from '../core/errors.ts';
import { isFinal } from '../core/states.ts';
import { valueAt } from '../core/trees.ts';
import type { Experiment } from '../schemas/experiment.ts';
import type { CheckpointReference, ResolvedCheckpoint } from './checkpoint-reference.ts';
import { type ExperimentSpec, findEngine, type ResolvedSpec } from './registry.ts';

/** The record of a training. `cluster`: the one that has its last checkpoint; null if none has run it. */
export type TrainingRecord = Pick<Experiment, 'id' | 'state' | 'checkpoint' | 'resolved' | 'cluster'>;

/** The experiment that a spec names, and the JSON pointer of its id. */
interface Named {
  experiment: string;
  field: string;
}

/** The training that a spec names by its id; undefined if it names none. The spec may be incomplete: that of a sweep. */
export function namedTraining(spec: object): Named | undefined {
  const pointer = readsAt(spec);
  const { experiment, directory } = (referenceAt(spec, pointer) ?? {}) as CheckpointReference;
  // With a directory beside it, the engine refuses both.
  if (pointer === undefined || typeof experiment !== 'string' || directory !== undefined) return undefined;
  return { experiment, field: `${pointer}/experiment` };
}

/** The checkpoint that a resolved spec reads, and its JSON pointer; undefined if it reads none. */
export function checkpointOf(spec: object): (ResolvedCheckpoint & { pointer: string }) | undefined {
  const pointer = readsAt(spec);
  const reference = referenceAt(spec, pointer) as ResolvedCheckpoint | undefined;
  return pointer === undefined || reference === undefined ? undefined : { ...reference, pointer };
}

/**
 * The spec with the training's checkpoint in the place of its id, on the training's cluster, and with the training's settings
 * that the spec omits; else what is wrong.
 */
export function completeSpec<T extends object>(
  spec: T,
  { field }: Named,
  training: TrainingRecord,
): T | FieldProblem {
  const { id, state, checkpoint, cluster } = training;
  const wrong = (message: string, at = field): FieldProblem => ({ field: at, message });
  const resolved = training.resolved as ResolvedSpec['spec'];
  const engine = findEngine(resolved?.engine);
  if (engine?.trained === undefined) {
    return wrong(
      `is an experiment of the engine ${resolved?.engine}, which saves no such checkpoint; name a training of verl-agent`,
    );
  }
  const { step } = referenceAt(spec, readsAt(spec)) as CheckpointReference;
  if (!isFinal(state) && step === undefined) {
    return wrong(
      `has not ended (${state}): wait for its end, or set step to a step that is saved. A preset submits evaluations that wait for their training`,
    );
  }
  const trained = engine.trained(resolved, checkpoint?.path ?? '');
  if (typeof trained === 'string') return wrong(trained);
  if (checkpoint === null || cluster === null) return wrong(`has saved no checkpoint (${state})`);
  const { cluster: named } = spec as { cluster?: string };
  if (named !== undefined && named !== cluster) {
    return wrong(`must be ${cluster}, which has the checkpoints of ${id}; change or remove it`, '/cluster');
  }
  const settings = { ...trained, step: step ?? checkpoint.step, cluster };
  const completed = findEngine((spec as { engine?: unknown }).engine)!.reads!.complete(
    spec as unknown as ExperimentSpec,
    settings,
  );
  return completed as unknown as T | FieldProblem;
}

function readsAt(spec: object): string | undefined {
  return findEngine((spec as { engine?: unknown }).engine)?.reads?.pointer;
}

function referenceAt(spec: object, pointer: string | undefined): unknown {
  return pointer === undefined ? undefined : valueAt(spec, pointer.slice(1).replaceAll('/', '.'));
}
