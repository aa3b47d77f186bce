import type { FieldProblem } from '../../core/errors.ts';
import { EXPERIMENT_ID } from '../../core/ids.ts';
import type { PriorityClass } from '../../core/priority-class.ts';
import { type Caller, hasScope, sees } from '../../core/scopes.ts';
import { missingFrom, type Tree } from '../../core/trees.ts';
import { allowedOn, inAll } from '../../engines/allowed.ts';
import type { Permissions } from '../../engines/engine.ts';
import { completeSpec, namedTraining, type TrainingRecord } from '../../engines/named-training.ts';
import type { ExperimentSpec, ResolvedSpec } from '../../engines/registry.ts';
import { invalidSpec } from '../../engines/validate-spec.ts';
import { resolveRun } from '../../plan/external-run.ts';
import { resolveSpec } from '../../plan/resolve-spec.ts';
import { DEFAULT_PROJECT } from '../../schemas/project.ts';
import type { RunSpec } from '../../schemas/runs.ts';
import type { Cluster } from '../../store/clusters/types.ts';
import type { Store } from '../../store/store.ts';
import { inOwnProject, projectProblem, urgentProblem } from '../access/caller-projects.ts';
import type { AppSettings } from '../server/deps.ts';
import { type Place, placeProblem } from './placement.ts';

/**
 * Takes the specs of one request in: every route that submits, plans or judges a spec calls it, so that all refuse the same.
 * Projects and clusters are read once for all specs of the request that name the same ones.
 */
export function createIntake(
  { store, settings }: { store: Store; settings: Pick<AppSettings, 'promptEndpoints'> },
  caller: Caller,
) {
  let all: Promise<Cluster[]> | undefined;
  const named = remembered(
    async (name: string) =>
      (await all)?.filter((one) => one.name === name) ?? (await store.clusters.list([name])),
  );
  /** The cluster of that name, or all. */
  const clusters = (name: string | null): Promise<Cluster[]> => {
    if (name !== null) return named(name);
    all ??= store.clusters.list();
    return all;
  };
  const ofProject = createProjectCheck(store, caller);

  /**
   * What the caller's specs may load code from and call: everything with the scope `custom-code`, else the operator's
   * endpoints, and the directories that are allowed on `cluster`; null: on every cluster, since any may take it.
   * With any scope, only what is allowed there ({@link allowedOn}); `asks`: whether a spec may ask for some.
   */
  async function permissions(cluster: string | null, asks: boolean): Promise<Permissions> {
    const customCode = hasScope(caller, 'custom-code');
    if (customCode && !asks) return { customCode };
    const possible = await clusters(cluster);
    const allowed = allowedOn(possible);
    if (customCode) return { customCode, ...allowed };
    const codePaths = inAll(possible.map((one) => one.codePaths ?? []));
    return { customCode: false, codePaths, endpoints: settings.promptEndpoints, ...allowed };
  }

  const ofPlace = (spec: Place) => placeProblem(store, spec, clusters);

  return {
    /**
     * A valid spec, resolved: in the caller's own project unless it names one, with the checkpoint of a training that it
     * names, with what the caller may use, on clusters that are there. `waits`: it waits for a training that will decide its
     * cluster. Throws EchelonError `invalid-spec`, also for a project or a training that is not there for the caller.
     */
    async take(spec: ExperimentSpec, { waits = false } = {}): Promise<ResolvedSpec> {
      const complete = await withNamedTraining(store, caller, inOwnProject(caller, spec));
      const asks =
        Object.keys(spec.secrets ?? {}).length > 0 || 'runtimeEnv' in spec || 'checkpointStore' in spec;
      const resolved = resolveSpec(complete, await permissions(complete.cluster ?? null, asks));
      const problem = (await ofProject(resolved.spec)) ?? (waits ? null : await ofPlace(resolved.spec));
      if (problem) throw invalidSpec([problem]);
      if (complete === spec) return resolved;
      return { ...resolved, defaults: missingFrom(spec, resolved.spec as unknown as Tree) };
    },

    /** A run that Echelon does not start, likewise: it reads no training, loads no code and takes no place. */
    async takeRun(run: RunSpec) {
      const resolved = resolveRun(inOwnProject(caller, run));
      const problem = await ofProject({ project: resolved.spec.project });
      if (problem) throw invalidSpec([problem]);
      return resolved;
    },

    // The steps of `take`, for the children of a sweep, which are judged together.
    permissions,
    complete: <T extends object>(spec: T) => withNamedTraining(store, caller, spec),
    projectProblem: ofProject,
    placeProblem: ofPlace,
    /** All clusters. */
    clusters: () => clusters(null),
  };
}

/** What is wrong with the project of a spec for the caller, and with the class for the project. */
function createProjectCheck(store: Store, caller: Caller) {
  const ofName = remembered((name: string) => projectProblem(store, caller, name));
  const ofUrgent = remembered((name: string) => urgentProblem(store, name));
  return async ({ project, priorityClass }: { project: string; priorityClass?: PriorityClass }) =>
    (await ofName(project)) ?? (priorityClass === 'urgent' ? await ofUrgent(project) : undefined);
}

/** A function that asks once for each argument. */
function remembered<A, R>(ask: (argument: A) => Promise<R>): (argument: A) => Promise<R> {
  const answers = new Map<A, Promise<R>>();
  return (argument) => {
    const answer = answers.get(argument) ?? ask(argument);
    answers.set(argument, answer);
    return answer;
  };
}

/**
 * A spec that names a training by its id, with that training's checkpoint and cluster; every other spec as it is. Throws
 * EchelonError `invalid-spec` if the caller sees no such training in the spec's project, or if its checkpoint cannot be read.
 */
async function withNamedTraining<T extends object>(store: Store, caller: Caller, spec: T): Promise<T> {
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
  store: Store,
  { id, checkpoint }: Pick<TrainingRecord, 'id' | 'checkpoint'>,
): Promise<string | null> {
  if (checkpoint === null) return null;
  const attempts = await store.attempts.list(id);
  return attempts.find(({ attempt }) => attempt === checkpoint.attempt)?.cluster || null;
}

function isProblem(completed: object): completed is FieldProblem {
  return 'field' in completed && 'message' in completed;
}
