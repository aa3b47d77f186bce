import { nearestName } from 'command-kit/nearest';
import { plural } from 'command-kit/plural';
import type { FieldProblem } from '../../core/errors.ts';
import { checkpointOf } from '../../engines/named-training.ts';
import type { ResolvedSpec } from '../../engines/registry.ts';
import { hasLabels, possibleNodes } from '../../scheduler/nodes.ts';
import { couldFit, needOf } from '../../scheduler/placement.ts';
import { isWanted } from '../../scheduler/schedule.ts';
import { tooLarge } from '../../scheduler/wait-reasons.ts';
import { canonicalJson } from '../../schemas/json.ts';
import type { Cluster } from '../../store/clusters/types.ts';
import type { Store } from '../../store/store.ts';

/** Where a resolved spec may run. */
export type Place = Pick<ResolvedSpec['spec'], 'cluster' | 'clusterLabels'>;

/** What of a resolved spec decides on which nodes it can run. */
export type Need = Place & Pick<ResolvedSpec['spec'], 'resources'>;

type Labelled = Pick<Cluster, 'name' | 'labels'>;

/**
 * What is wrong with the place of a spec, or null: a cluster that is not there, or labels that no cluster has, for which it
 * would wait forever; a checkpoint that some of its clusters do not have. `clusters` answers the cluster of a name, or all for
 * null; for a spec without cluster, labels and checkpoint it is not asked.
 */
export async function placeProblem(
  store: Pick<Store, 'experiments'>,
  spec: Place,
  clusters: (name: string | null) => Promise<readonly Labelled[]>,
): Promise<FieldProblem | null> {
  const { cluster, clusterLabels } = spec;
  if (cluster !== null && (await clusters(cluster)).length === 0)
    return unknownCluster(cluster, await clusters(null));
  const hasLabels = Object.keys(clusterLabels).length > 0;
  if (!hasLabels && checkpointOf(spec) === undefined) return null;
  const all = await clusters(null);
  return (hasLabels ? labelProblem(spec, all) : null) ?? (await checkpointPlaceProblem(store, spec, all));
}

function unknownCluster(name: string, clusters: readonly Labelled[]): FieldProblem {
  const known = clusters.map((cluster) => cluster.name);
  const near = nearestName(name, known);
  const hint = near ? `did you mean ${near}?` : `known: ${known.join(', ') || 'none'}; leave it out for any`;
  return { field: '/cluster', message: `is not the name of a cluster; ${hint}` };
}

/** What is wrong with the labels of a spec, or null: no cluster that it may run on has all of them. */
export function labelProblem(
  { cluster, clusterLabels }: Place,
  clusters: readonly Labelled[],
): FieldProblem | null {
  const possible = clusters.filter(({ name }) => cluster === null || name === cluster);
  const wanted = Object.entries(clusterLabels);
  if (possible.some(({ labels }) => hasLabels(clusterLabels, labels))) return null;
  const known = possible.flatMap(({ labels = {} }) =>
    Object.entries(labels).map(([key, value]) => `${key}=${value}`),
  );
  const asked = wanted.map(([key, value]) => `${key}=${value}`);
  const missing = asked.find((label) => !known.includes(label));
  const near = missing === undefined ? undefined : nearestName(missing, known);
  const whose = cluster === null ? 'no cluster has' : `cluster ${cluster} does not have`;
  const hint =
    near !== undefined
      ? `did you mean ${near}?`
      : `known: ${[...new Set(known)].join(', ') || 'none'}; \`echelon clusters update --label\` sets them`;
  return { field: '/clusterLabels', message: `${whose} ${asked.join(' and ')}; ${hint}` };
}

/**
 * What is wrong with the place of a spec that reads a checkpoint, or null. It may run only on clusters on which the checkpoint
 * directory was used; if no experiment has reported it, on one cluster only.
 */
async function checkpointPlaceProblem(
  store: Pick<Store, 'experiments'>,
  spec: Place,
  clusters: readonly Labelled[],
): Promise<FieldProblem | null> {
  const checkpoint = checkpointOf(spec);
  if (checkpoint === undefined) return null;
  const { directory, pointer } = checkpoint;
  const names = clusters.map(({ name }) => name);
  const holders = await store.experiments.checkpointClusters(directory, names);
  const possible = clusters
    .filter((cluster) => spec.cluster === null || cluster.name === spec.cluster)
    .filter((cluster) => labelProblem(spec, [cluster]) === null)
    .map(({ name }) => name);
  const field = '/cluster';
  if (holders.length > 0) {
    if (possible.every((name) => holders.includes(name))) return null;
    return { field, message: `must be ${holders.join(' or ')}, which has the checkpoints in ${directory}` };
  }
  if (possible.length < 2) return null;
  const message = `is missing: only the cluster of the training has its checkpoint, and the spec may run on ${possible.join(', ')}. Name the cluster, or the training by its id in ${pointer}/experiment`;
  return { field, message };
}

/**
 * Why the nodes of no cluster that it asks for are large enough for an experiment; null if those of one are, or if the nodes
 * of one are not known yet. It would stay queued until a larger node joins.
 */
export function neverFits(
  { cluster, clusterLabels, resources }: Need,
  clusters: readonly Cluster[],
): string | null {
  const item = { cluster, labels: clusterLabels, ...needOf(resources) };
  const wanted = clusters.filter((one) => isWanted(item, { name: one.name, labels: one.labels ?? {} }));
  if (wanted.length === 0 || wanted.some(({ nodes }) => nodes.length === 0)) return null;
  const sized = wanted.map((one) => ({ name: one.name, nodes: possibleNodes(one, one.nodes) }));
  if (sized.some(({ nodes }) => couldFit(item, nodes))) return null;
  return tooLarge(item, sized);
}

/** That no node is large enough for an experiment, in words; empty if one is. */
export function fitWarnings(need: Need, clusters: readonly Cluster[]): string[] {
  const reason = neverFits(need, clusters);
  return reason === null ? [] : [`The experiment ${reason}.`];
}

/** Counts what the children of a sweep need, to say which of them no node is large enough for. */
export function createFitCheck() {
  const needs = new Map<string, { need: Need; children: number }>();
  return {
    add({ cluster, clusterLabels, resources }: Need): void {
      const need = { cluster, clusterLabels, resources };
      const key = canonicalJson(need);
      const known = needs.get(key) ?? { need, children: 0 };
      known.children += 1;
      needs.set(key, known);
    },
    /** One sentence for each kind of child that would stay queued. */
    warnings(clusters: readonly Cluster[]): string[] {
      return [...needs.values()].flatMap(({ need, children }) => {
        const reason = neverFits(need, clusters);
        return reason === null ? [] : [`${plural(children, 'child', 'children')} ${reason}.`];
      });
    },
  };
}
