import { nearestName } from 'echelon-verify/text/nearest';
import { EchelonError, type FieldProblem } from '../../core/errors.ts';
import { type Caller, hasScope } from '../../core/scopes.ts';
import { missingFrom, type Tree } from '../../core/trees.ts';
import type { Permissions } from '../../engines/engine.ts';
import type { ExperimentSpec, ResolvedSpec } from '../../engines/registry.ts';
import { ownSecretProjects } from '../../engines/secret-projects.ts';
import { invalidSpec } from '../../engines/validate-spec.ts';
import { resolveSpec } from '../../plan/resolve-spec.ts';
import type { ClusterView } from '../../schemas/api.ts';
import { DEFAULT_PROJECT } from '../../schemas/project.ts';
import type { StorePart } from '../../store/store.ts';
import type { AppSettings } from '../server/deps.ts';
import { type TrainingStore, withNamedTraining } from './named-training.ts';

/** No project has this name: its lists are empty. */
const NO_PROJECT = '-';

/**
 * The project whose things are listed for the caller (undefined: those of all), if it asked for `asked`. Another
 * one than its own is as empty as one that is not there.
 */
export function listedProject({ project }: Caller, asked: string | undefined): string | undefined {
  if (project === null) return asked;
  return asked === undefined || asked === project ? project : NO_PROJECT;
}

/** A spec that names no project belongs to the one that the caller is bound to. */
export function inOwnProject<T extends object>(caller: Caller, spec: T): T {
  return caller.project === null || Object.hasOwn(spec, 'project')
    ? spec
    : { ...spec, project: caller.project };
}

/** What of a project's name is wrong for the caller: one that it cannot see is one that is not there. */
export async function projectProblem(
  store: StorePart<'projects.list'>,
  { project }: Caller,
  name: string,
): Promise<FieldProblem | undefined> {
  if (project === null && name === DEFAULT_PROJECT) return undefined;
  const known = project === null ? (await store.projects.list()).map((one) => one.name) : [project];
  if (known.includes(name)) return undefined;
  const near = nearestName(name, known);
  const hint = near ? `did you mean ${near}?` : `known: ${known.slice(0, 20).join(', ')}`;
  return { field: '/project', message: `is not the name of a project; ${hint}` };
}

/**
 * The caller's spec, resolved: in its own project unless it names one, with the checkpoint of a training that it names, with
 * custom code if it has that scope. Throws EchelonError `invalid-spec`, also for a project or a training that is not there
 * for the caller.
 */
export async function resolveFor(
  deps: Permitting & { store: StorePart<'projects.list'> & TrainingStore },
  caller: Caller,
  spec: ExperimentSpec,
): Promise<ResolvedSpec> {
  return (await resolveAll(deps, caller, [spec]))[0]!;
}

/** {@link resolveFor} for several specs. Projects and clusters are read once for all that name the same ones. */
export async function resolveAll(
  deps: Permitting & { store: StorePart<'projects.list'> & TrainingStore },
  caller: Caller,
  specs: readonly ExperimentSpec[],
): Promise<ResolvedSpec[]> {
  const secrets = specs.some((spec) => Object.keys(spec.secrets ?? {}).length > 0);
  const permissions = remembered((cluster: string | null) => permissionsOf(deps, caller, cluster, secrets));
  const problems = remembered((project: string) => projectProblem(deps.store, caller, project));
  const all: ResolvedSpec[] = [];
  for (const spec of specs) {
    const complete = await withNamedTraining(deps.store, caller, inOwnProject(caller, spec));
    const resolved = resolveSpec(complete, await permissions(complete.cluster ?? null));
    const problem = await problems(resolved.spec.project);
    if (problem) throw invalidSpec([problem]);
    const defaults =
      complete === spec ? resolved.defaults : missingFrom(spec, resolved.spec as unknown as Tree);
    all.push({ ...resolved, defaults });
  }
  return all;
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

/** What decides what specs may do: the clusters, and the settings of the operator. */
export interface Permitting {
  store: StorePart<'clusters.list'>;
  settings: Pick<AppSettings, 'promptEndpoints'>;
}

/**
 * What the caller's specs may load code from and call: everything with the scope `custom-code`, else the operator's
 * endpoints, and the directories that are allowed on `cluster`, or, where any cluster may take it (null), on every one.
 * With any scope, only the secrets that the spec's project may use there; `secrets`: whether a spec may name some.
 */
export async function permissionsOf(
  { store, settings }: Permitting,
  caller: Caller,
  cluster: string | null,
  secrets: boolean,
): Promise<Permissions> {
  const customCode = hasScope(caller, 'custom-code');
  if (customCode && !secrets) return { customCode };
  const clusters = await store.clusters.list(cluster === null ? undefined : [cluster]);
  const secretProjects = clusters.map((one) => one.secretProjects ?? null);
  if (customCode) return { customCode, secretProjects };
  const [first, ...others] = clusters.map(({ codePaths = [] }) => codePaths);
  const codePaths = (first ?? []).filter((path) => others.every((paths) => paths.includes(path)));
  return { customCode: false, codePaths, endpoints: settings.promptEndpoints, secretProjects };
}

/** Clusters as the caller may see them: what others run there is not named, what it takes is. */
export async function seenClusters(
  store: StorePart<'projects.contains'>,
  { project }: Caller,
  clusters: readonly ClusterView[],
): Promise<ClusterView[]> {
  if (project === null) return [...clusters];
  return await Promise.all(
    clusters.map(async (cluster) => {
      const own = await Promise.all(cluster.experiments.map((id) => store.projects.contains(project, id)));
      return {
        ...cluster,
        experiments: cluster.experiments.filter((_id, at) => own[at]),
        secretProjects: ownSecretProjects(project, cluster.secretProjects),
        unknownAttempts: [],
      };
    }),
  );
}

/** EchelonError `project-not-found`, the same for one that the caller may not see. */
export function projectNotFound(name: string): EchelonError {
  return new EchelonError('project-not-found', `There is no project ${name.slice(0, 70)}.`);
}
