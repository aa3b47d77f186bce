import type { ProjectView } from '../schemas/project.ts';
import type { Allocation, ClusterNode } from '../store/clusters/types.ts';
import { dominantShare } from './order.ts';

/** What each project holds and its limits. `held`: the allocations on all `clusters`. */
export function projectFigures({
  clusters,
  projects,
  held,
  paused,
}: {
  clusters: readonly { nodes: readonly Pick<ClusterNode, 'gpusTotal' | 'cpusTotal'>[] }[];
  projects: readonly Pick<ProjectView, 'name' | 'weight' | 'gpuQuota' | 'storeBytes' | 'storeLimitBytes'>[];
  held: readonly Allocation[];
  paused: ReadonlyMap<string, unknown>;
}) {
  const nodes = clusters.flatMap((cluster) => cluster.nodes);
  const all = {
    gpus: nodes.reduce((sum, node) => sum + node.gpusTotal, 0),
    cpus: nodes.reduce((sum, node) => sum + node.cpusTotal, 0),
  };
  return projects.map(({ name, weight, gpuQuota, storeBytes, storeLimitBytes }) => {
    const own = held.filter(({ project }) => project === name);
    const gpus = own.reduce((sum, item) => sum + item.gpus, 0);
    const cpus = own.reduce((sum, item) => sum + item.cpus, 0);
    const share = dominantShare({ gpus, cpus }, all);
    return {
      name,
      gpusHeld: gpus,
      gpuQuota,
      weight,
      share,
      paused: paused.has(name),
      storeBytes,
      storeLimitBytes,
    };
  });
}
