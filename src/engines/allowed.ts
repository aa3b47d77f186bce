import type { CheckpointStores } from './checkpoint-stores.ts';
import type { Permissions } from './engine.ts';
import type { SecretProjects } from './secret-projects.ts';

/** What an operator allows on a cluster. */
interface ClusterAllows {
  secretProjects?: SecretProjects;
  checkpointStores?: CheckpointStores;
  runtimeEnv?: readonly string[];
}

/** What a spec may use that any of these clusters may run: of lists without projects, what all of them allow. */
export function allowedOn(
  clusters: readonly ClusterAllows[],
): Pick<Permissions, 'secretProjects' | 'checkpointStores' | 'runtimeEnv'> {
  return {
    secretProjects: clusters.map((one) => one.secretProjects ?? null),
    checkpointStores: clusters.map((one) => one.checkpointStores ?? {}),
    runtimeEnv: inAll(clusters.map((one) => one.runtimeEnv ?? [])),
  };
}

/** What is in each of the lists. */
export function inAll([first = [], ...others]: readonly (readonly string[])[]): string[] {
  return first.filter((one) => others.every((list) => list.includes(one)));
}
