import type { FieldProblem } from '../../../core/errors.ts';
import { checkpointOf } from '../../../engines/named-training.ts';
import type { ResolvedSpec } from '../../../engines/registry.ts';
import type { Cluster } from '../../../store/clusters/contract.ts';
import type { StorePart } from '../../../store/store.ts';
import { labelProblem } from './label-problem.ts';

/**
 * What is wrong with the place of a spec that reads a checkpoint, or null. It may run only on clusters on which the checkpoint
 * directory was used; if no experiment has reported it, on one cluster only.
 */
export async function checkpointPlaceProblem(
  store: StorePart<'experiments.checkpointClusters'>,
  spec: Pick<ResolvedSpec['spec'], 'cluster' | 'clusterLabels'>,
  clusters: readonly Pick<Cluster, 'name' | 'labels'>[],
): Promise<FieldProblem | null> {
  const checkpoint = checkpointOf(spec);
  if (checkpoint === undefined) return null;
  const names = clusters.map(({ name }) => name);
  const holders = await store.experiments.checkpointClusters(checkpoint.directory, names);
  const possible = clusters
    .filter((cluster) => spec.cluster === null || cluster.name === spec.cluster)
    .filter((cluster) => labelProblem(spec, [cluster]) === null)
    .map(({ name }) => name);
  if (holders.length === 0) return possible.length < 2 ? null : severalClusters(possible, checkpoint.pointer);
  if (possible.every((name) => holders.includes(name))) return null;
  return {
    field: '/cluster',
    message: `must be ${holders.join(' or ')}, which has the checkpoints in ${checkpoint.directory}`,
  };
}

function severalClusters(names: readonly string[], pointer: string): FieldProblem {
  const message = `is missing: only the cluster of the training has its checkpoint, and the spec may run on ${names.join(', ')}. Name the cluster, or the training by its id in ${pointer}/experiment`;
  return { field: '/cluster', message };
}
