import type { FieldProblem } from '../core/errors.ts';
import { DEFAULT_PROJECT } from '../schemas/project.ts';
import type { Secrets } from '../schemas/secrets.ts';

/** The secrets of a cluster that projects may use, each with these projects (`*`: every project); null: no one made a list. */
export type SecretProjects = Readonly<Record<string, readonly string[]>> | null;

/**
 * Problems of a spec that names secrets which its project may not use on every cluster that may run it. A secret that
 * does not exist is refused in the same words, so that names of other projects' secrets cannot be guessed.
 */
export function secretProjectProblems(
  { secrets = {}, project = DEFAULT_PROJECT }: { secrets?: Secrets; project?: string },
  clusters: readonly SecretProjects[],
): FieldProblem[] {
  return Object.entries(secrets)
    .filter(([, name]) => !clusters.every((listed) => mayUse(project, name, listed)))
    .map(([variable, name]) => ({
      field: `/secrets/${variable}`,
      message: `names ${name}, which is no secret that the project ${project} may use on every cluster that may run the experiment; check the name and the cluster, or ask an administrator to list it in secretProjects of the cluster`,
    }));
}

/** A cluster without a list gives its secrets to the default project: with no other project, there is nothing to list. */
function mayUse(project: string, name: string, listed: SecretProjects): boolean {
  if (listed === null) return project === DEFAULT_PROJECT;
  return maySee(project, Object.hasOwn(listed, name) ? listed[name]! : []);
}

/** Whether an entry of a cluster's list is for a project. */
export function maySee(project: string, projects: readonly string[]): boolean {
  return projects.includes(project) || projects.includes('*');
}

/** The part of a cluster's list that a project may see: its own entries, without the other projects that use them. */
export function ownEntries(
  project: string,
  listed: Readonly<Record<string, readonly string[]>>,
): Record<string, string[]> {
  return Object.fromEntries(
    Object.entries(listed)
      .map(([name, projects]) => [name, projects.filter((one) => one === project || one === '*')] as const)
      .filter(([, projects]) => projects.length > 0),
  );
}
