import { nearestName } from 'command-kit/nearest';
import { EchelonError, type FieldProblem } from '../../core/errors.ts';
import { type Caller, sees } from '../../core/scopes.ts';
import { ownEntries } from '../../engines/secret-projects.ts';
import type { ClusterView } from '../../schemas/api.ts';
import { DEFAULT_PROJECT, type Project } from '../../schemas/project.ts';
import type { Store } from '../../store/store.ts';

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
  store: Pick<Store, 'projects'>,
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

/** Why no experiment of a project may be urgent; undefined: some may. */
export async function urgentProblem(
  store: Pick<Store, 'projects'>,
  name: string,
): Promise<FieldProblem | undefined> {
  const { urgentGpuQuota = 0 } = (await store.projects.get(name)) ?? {};
  if (urgentGpuQuota !== 0) return undefined;
  const message = `cannot be urgent in project ${name}, whose urgentGpuQuota is 0; an admin can raise it with \`echelon projects update ${name} --urgent-gpu-quota GPUS\``;
  return { field: '/priorityClass', message };
}

/** Clusters as the caller may see them: what others run there is not named, what it takes is. */
export async function seenClusters(
  store: Pick<Store, 'projects'>,
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
        secretProjects: cluster.secretProjects && ownEntries(project, cluster.secretProjects),
        checkpointStores: ownEntries(project, cluster.checkpointStores),
        unknownAttempts: [],
      };
    }),
  );
}

/** EchelonError `project-not-found`, the same for one that the caller may not see. */
export function projectNotFound(name: string): EchelonError {
  return new EchelonError('project-not-found', `There is no project ${name.slice(0, 70)}.`);
}

/** The project of that name. Throws EchelonError `project-not-found` also if the caller does not see it. */
export async function projectOf(
  store: Pick<Store, 'projects'>,
  caller: Caller,
  name: string,
): Promise<Project> {
  const project = sees(caller, name) ? await store.projects.get(name) : undefined;
  if (project === undefined) throw projectNotFound(name);
  return project;
}
