import type { FieldProblem } from '../../core/errors.ts';
import { EXPERIMENT_ID } from '../../core/ids.ts';
import { type Caller, sees } from '../../core/scopes.ts';
import { completeSpec, namedTraining, type TrainingRecord } from '../../engines/named-training.ts';
import { invalidSpec } from '../../engines/validate-spec.ts';
import { DEFAULT_PROJECT } from '../../schemas/project.ts';
import type { StorePart } from '../../store/store.ts';

/** The parts of the store that know a training. */
export type TrainingStore = StorePart<'experiments.get' | 'attempts.list'>;

/**
 * A spec that names a training by its id, with that training's checkpoint and cluster; every other spec as it is. Throws
 * EchelonError `invalid-spec` if the caller sees no such training in the spec's project, or if its checkpoint cannot be read.
 */
export async function withNamedTraining<T extends object>(
  store: TrainingStore,
  caller: Caller,
  spec: T,
): Promise<T> {
  const named = namedTraining(spec);
  if (named === undefined) return spec;
  const refuse = (problem: FieldProblem) => invalidSpec([problem]);
  const { experiment, field } = named;
  const found = EXPERIMENT_ID.test(experiment) ? await store.experiments.get(experiment) : undefined;
  if (found === undefined || !sees(caller, found.project)) {
    const message =
      'is not the id of an experiment; `echelon list` shows them. If its record was deleted, set directory instead';
    throw refuse({ field, message });
  }
  const { project = DEFAULT_PROJECT } = spec as { project?: string };
  if (found.project !== project) {
    throw refuse({ field, message: `belongs to the project ${found.project}; set project to it` });
  }
  const training: TrainingRecord = { ...found, cluster: await clusterOf(store, found) };
  const completed = completeSpec(spec, named, training);
  if (isProblem(completed)) throw refuse(completed);
  return completed;
}

/** The cluster of the attempt that saved the last checkpoint; a later attempt may have run elsewhere. */
async function clusterOf(
  store: TrainingStore,
  { id, checkpoint }: Pick<TrainingRecord, 'id' | 'checkpoint'>,
): Promise<string | null> {
  if (checkpoint === null) return null;
  const attempts = await store.attempts.list(id);
  return attempts.find(({ attempt }) => attempt === checkpoint.attempt)?.cluster || null;
}

function isProblem(completed: object): completed is FieldProblem {
  return 'field' in completed && 'message' in completed;
}
