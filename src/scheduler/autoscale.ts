import { plural } from 'command-kit/plural';
import type { NodeBundle } from '../core/node-states.ts';
import { canonicalJson } from '../schemas/json.ts';
import type { Asked, NodeType } from '../store/clusters/types.ts';
import type { QueuedExperiment } from '../store/queue/types.ts';
import { EPSILON, type FreeNode, hasLabels, type NodeLabels, type RoundCluster, soonFree } from './nodes.ts';
import { type Part, placeOn } from './placement.ts';
import type { Quotas } from './quotas.ts';
import { askedOfSlurm } from './slurm-words.ts';

/*
 * What the autoscalers of clusters are asked for. Ray compares a request with the whole cluster as if nothing ran on it
 * (ray.autoscaler.sdk.request_resources), and replaces an earlier request. So a request has every node in use as a whole,
 * which also keeps it from being released, and the nodes that queued experiments need, as wholes as well: parts of different
 * nodes would be packed onto one.
 */

/** MAX waiting experiments and new nodes of one request. */
const MAX_WAITING = 512;
const MAX_NEW_NODES = 64;

/** A node of the plan. `added`: its type, if the autoscaler is to bring it. */
interface PlannedNode extends FreeNode {
  added?: NodeType;
  busy: boolean;
}

/** The requests after a round, by cluster, and the nodes that each of the waiting experiments needs. */
export interface Asks {
  clusters: Map<string, Asked>;
  /** Words that follow the wait reason of an experiment. */
  reasons: Map<string, string>;
}

/** `waiting`: those that did not start for want of room, in their turn. `quotas`: with the starts of the round. */
export function askAutoscalers(
  clusters: readonly RoundCluster[],
  waiting: readonly QueuedExperiment[],
  known: { takingOf(item: QueuedExperiment): readonly RoundCluster[]; quotas: Quotas; now: number },
): Asks {
  const scaled = clusters.filter(({ answering, nodeTypes }) => answering && nodeTypes.length > 0);
  const plans = new Map(scaled.map((cluster) => [cluster, plannedNodes(cluster)]));
  const asks: Asks = { clusters: new Map(), reasons: new Map() };
  const needs: { item: QueuedExperiment; cluster: RoundCluster; added: NodeType[] }[] = [];
  for (const item of scaled.length === 0 ? [] : waiting.slice(0, MAX_WAITING)) {
    if (known.quotas.refusal(item) !== null) continue;
    for (const cluster of known.takingOf(item)) {
      const nodes = plans.get(cluster);
      const parts = nodes && planOn(item, cluster, nodes);
      if (parts === undefined) continue;
      known.quotas.take(item);
      needs.push({ item, cluster, added: parts.flatMap(({ node }) => (node as PlannedNode).added ?? []) });
      break;
    }
  }
  for (const [cluster, nodes] of plans) {
    const ask = askOf(cluster, nodes, known.now);
    const gangs = needs.flatMap((need) =>
      need.cluster === cluster && need.added.length > 1 ? [need.added.length] : [],
    );
    asks.clusters.set(cluster.name, gangs.length === 0 ? ask : { ...ask, gangs });
  }
  for (const { item, cluster, added } of needs) {
    const { since } = asks.clusters.get(cluster.name)!;
    const words = () =>
      cluster.slurm === undefined
        ? inWords(added, known.now - since)
        : `; ${askedOfSlurm(cluster.slurm, added.length)}`;
    if (added.length > 0) asks.reasons.set(item.experiment, words());
  }
  return asks;
}

function plannedNodes({ nodes, closedNodes }: RoundCluster): PlannedNode[] {
  const open = nodes.map((node) => {
    const { gpus, cpus } = soonFree(node);
    return { ...node, gpus, cpus, busy: gpus < node.gpusTotal - EPSILON || cpus < node.cpusTotal - EPSILON };
  });
  // Ray would place the request on a cordoned node, on which nothing starts. A node that Ray drains does not count for it.
  const cordoned = closedNodes.filter(({ leaving }) => !leaving);
  return [...open, ...cordoned.map((node) => ({ ...node, gpus: 0, cpus: 0, busy: true }))];
}

/** Where the experiment would run, with as few new nodes of one type as possible; they are added to `nodes`. */
function planOn(item: QueuedExperiment, cluster: RoundCluster, nodes: PlannedNode[]): Part[] | undefined {
  const types = cluster.nodeTypes.toSorted((a, b) => a.gpus - b.gpus || a.cpus - b.cpus);
  for (const type of types) {
    const room = Math.min(MAX_NEW_NODES, type.max - nodes.filter((node) => isOf(type, node)).length);
    const fresh: PlannedNode[] = [];
    for (;;) {
      const parts = placeOn(item, [...nodes, ...fresh]);
      if (parts !== undefined) {
        for (const { node, gpus, cpus } of parts) {
          node.gpus -= gpus;
          node.cpus -= cpus;
          (node as PlannedNode).busy = true;
        }
        nodes.push(...fresh);
        return parts;
      }
      if (fresh.length >= room) break;
      fresh.push(newNode(type, `new-${nodes.length + fresh.length}`));
    }
  }
  return undefined;
}

function newNode(type: NodeType, id: string): PlannedNode {
  const { gpus, cpus, labels } = type;
  return {
    id,
    gpus,
    cpus,
    gpusTotal: gpus,
    cpusTotal: cpus,
    labels,
    allocations: [],
    added: type,
    busy: false,
  };
}

function isOf({ gpus, cpus, labels }: NodeType, node: FreeNode): boolean {
  const sameSize = node.gpusTotal === gpus && (gpus > 0 || node.cpusTotal === cpus);
  return sameSize && hasLabels(labels ?? {}, node.labels);
}

function askOf({ asked, nodeTypes }: RoundCluster, planned: readonly PlannedNode[], now: number): Asked {
  // Ray would place the bundle of a node in use on a new node, unless it asks for the labels that tell the types apart.
  const keys = new Set(nodeTypes.flatMap(({ labels = {} }) => Object.keys(labels)));
  const pick = (labels: NodeLabels = {}) =>
    Object.fromEntries(Object.entries(labels).filter(([key]) => keys.has(key)));
  const nodes = planned.map((node) => ({ ...node, labels: pick(node.labels) }));
  const busy = nodes.filter((node) => node.busy && (node.gpusTotal > 0 || node.cpusTotal > 0));
  const added = bundlesOf(busy.filter((node) => node.added !== undefined));
  const count = (bundles: readonly NodeBundle[]) => bundles.reduce((sum, bundle) => sum + bundle.count, 0);
  const grows = count(added) > count(asked?.nodes ?? []);
  return { bundles: bundlesOf(busy), nodes: added, since: grows || asked === undefined ? now : asked.since };
}

function bundlesOf(nodes: readonly FreeNode[]): NodeBundle[] {
  const byShape = new Map<string, NodeBundle>();
  for (const { gpusTotal: gpus, cpusTotal: cpus, labels = {} } of nodes) {
    const shape = canonicalJson([gpus, cpus, labels]);
    const { count } = byShape.get(shape) ?? { count: 0 };
    const some = Object.keys(labels).length > 0;
    byShape.set(shape, { gpus, cpus, count: count + 1, ...(some && { labels }) });
  }
  return [...byShape.values()].sort((a, b) => a.gpus - b.gpus || a.cpus - b.cpus);
}

/** For example "asked the autoscaler for 2 nodes of 4 GPUs, 40 s ago". */
function inWords(added: readonly NodeType[], ms: number): string {
  const sizes = new Map<string, number>();
  for (const { gpus, cpus } of added) {
    const size = gpus > 0 ? plural(gpus, 'GPU') : plural(cpus, 'CPU');
    sizes.set(size, (sizes.get(size) ?? 0) + 1);
  }
  const nodes = [...sizes].map(([size, count]) => `${plural(count, 'node')} of ${size}`).join(' and ');
  // A coarse time, so that the text of a wait reason rarely changes.
  const ago = ms < 60_000 ? `${10 * Math.floor(ms / 10_000)} s` : `${Math.floor(ms / 60_000)} min`;
  return `; asked the autoscaler for ${nodes}, ${ms < 10_000 ? 'just now' : `${ago} ago`}`;
}
