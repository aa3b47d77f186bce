import { nearestName } from 'echelon-verify/text/nearest';
import { checkpointOf } from '../../../engines/named-training.ts';
import type { ResolvedSpec } from '../../../engines/registry.ts';
import { invalidSpec } from '../../../engines/validate-spec.ts';
import type { StorePart } from '../../../store/store.ts';
import { checkpointPlaceProblem } from './checkpoint-place.ts';
import { labelProblem } from './label-problem.ts';

/**
 * Refuses a spec that names a cluster that is not there, or labels that no cluster has: it would wait forever. Refuses a
 * spec that reads a checkpoint and may run on clusters without it. Throws EchelonError `invalid-spec` with the nearest name.
 */
export async function requirePlace(
  store: StorePart<'clusters.list' | 'experiments.checkpointClusters'>,
  spec: Pick<ResolvedSpec['spec'], 'cluster' | 'clusterLabels'>,
): Promise<void> {
  const { cluster, clusterLabels } = spec;
  if (cluster !== null) await requireCluster(store, cluster);
  const hasLabels = Object.keys(clusterLabels).length > 0;
  if (!hasLabels && checkpointOf(spec) === undefined) return;
  const clusters = await store.clusters.list();
  const problem =
    (hasLabels ? labelProblem(spec, clusters) : null) ??
    (await checkpointPlaceProblem(store, spec, clusters));
  if (problem !== null) throw invalidSpec([problem]);
}

/** As {@link requirePlace}, of a cluster alone. */
export async function requireCluster(store: StorePart<'clusters.list'>, name: string): Promise<void> {
  if ((await store.clusters.list([name])).length > 0) return;
  const known = (await store.clusters.list()).map((cluster) => cluster.name);
  const near = nearestName(name, known);
  const hint = near ? `did you mean ${near}?` : `known: ${known.join(', ') || 'none'}; leave it out for any`;
  throw invalidSpec([{ field: '/cluster', message: `is not the name of a cluster; ${hint}` }]);
}
