import type { FieldProblem } from '../../../core/errors.ts';
import { checkpointOf } from '../../../engines/named-training.ts';
import type { ResolvedSpec } from '../../../engines/registry.ts';
import type { Cluster } from '../../../store/clusters/contract.ts';
import { labelProblem } from './label-problem.ts';

/** What is wrong with the place of a spec that reads a checkpoint, or null: one cluster has its files, and it may run on several. */
export function checkpointPlaceProblem(
  spec: Pick<ResolvedSpec['spec'], 'cluster' | 'clusterLabels'>,
  clusters: readonly Pick<Cluster, 'name' | 'labels'>[],
): FieldProblem | null {
  const pointer = checkpointOf(spec);
  if (pointer === undefined || spec.cluster !== null) return null;
  const possible = clusters.filter((cluster) => labelProblem(spec, [cluster]) === null);
  if (possible.length < 2) return null;
  const names = possible.map(({ name }) => name).join(', ');
  const message = `is missing: only the cluster of the training has its checkpoint, and the spec may run on ${names}. Name the cluster, or the training by its id in ${pointer}/experiment`;
  return { field: '/cluster', message };
}
