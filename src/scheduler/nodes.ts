import type { ClusterNode, Reservation } from '../store/clusters/contract.ts';
import type { Waiting } from '../store/queue/contract.ts';

/*
 * What always holds: `free` of a node is what can be handed out now: total − max(used in Ray, handed out by us), less
 * what this round has handed out already. `held` says who has the rest of ours, and until when.
 */

/** When something is expected to happen: at the earliest, most likely, at the latest. In ms; an instant or a length. */
export interface Span {
  early: number;
  likely: number;
  late: number;
}

/** A cluster as the schedule sees it. */
export interface ClusterView {
  name: string;
  backfill: boolean;
  /** Whether its ray-worker answered lately; on one that did not, nothing is started. */
  answering: boolean;
  /** Nothing new starts there. */
  draining?: boolean;
  /** Nothing new starts there: why, in words that follow "cluster NAME is paused". */
  paused?: string | null;
  labels?: Readonly<Record<string, string>>;
  nodes: readonly ClusterNode[];
}

/** GPUs and CPUs, of whatever has or wants them. */
export interface Amount {
  gpus: number;
  cpus: number;
}

/** What an experiment holds of a node, and when it will give it back; null: nobody knows. */
export interface Held extends Amount {
  experiment: string;
  project: string;
  ends: Span | null;
}

/** A node with what is free on it. */
export interface FreeNode extends Amount {
  id: string;
  gpusTotal: number;
  cpusTotal: number;
  held: Held[];
}

/** A cluster during a schedule. */
export interface RoundCluster {
  name: string;
  backfill: boolean;
  answering: boolean;
  draining: boolean;
  paused: string | null;
  labels: Readonly<Record<string, string>>;
  nodes: FreeNode[];
  /** The experiment that holds the place in front of all others; null while there is none. */
  blocker: Waiting | null;
}

/** Resources are sums of decimal fractions: differences below this are rounding. */
export const EPSILON = 1e-6;

/**
 * What is free on a node: total − max(used in Ray, handed out by us). Ray's figure contains what we placed, ours
 * also what is not placed yet.
 */
export function freeOn(node: ClusterNode, reservations: readonly Reservation[]): Amount {
  const ours = reservations.filter((item) => item.node === node.id);
  const gpus = ours.reduce((sum, item) => sum + item.gpus, 0);
  const cpus = ours.reduce((sum, item) => sum + item.cpus, 0);
  return {
    gpus: Math.max(0, node.gpusTotal - Math.max(node.gpusUsed, gpus)),
    cpus: Math.max(0, node.cpusTotal - Math.max(node.cpusUsed, cpus)),
  };
}

/** Whether there is room for all of `need`. */
export function fits(need: Amount, has: Amount): boolean {
  return need.gpus <= has.gpus + EPSILON && need.cpus <= has.cpus + EPSILON;
}

/** Whether an empty node would have room for it. */
export function couldFitOn(need: Amount, node: Pick<FreeNode, 'gpusTotal' | 'cpusTotal'>): boolean {
  return fits(need, { gpus: node.gpusTotal, cpus: node.cpusTotal });
}

/**
 * The fullest node that has room and that `allowed` takes, so that large holes stay whole; ties go to the lower id.
 */
export function bestNode(
  need: Amount,
  nodes: readonly FreeNode[],
  allowed?: (node: FreeNode) => boolean,
): FreeNode | undefined {
  let best: FreeNode | undefined;
  for (const node of nodes) {
    if (!fits(need, node)) continue;
    const fuller =
      best === undefined ||
      node.gpus < best.gpus ||
      (node.gpus === best.gpus && (node.cpus < best.cpus || (node.cpus === best.cpus && node.id < best.id)));
    if (fuller && (allowed === undefined || allowed(node))) best = node;
  }
  return best;
}

/** Hands out what an experiment needs of a node. */
export function take(node: FreeNode, { experiment, project, gpus, cpus }: Waiting, ends: Span | null): void {
  node.gpus -= gpus;
  node.cpus -= cpus;
  node.held.push({ experiment, project, gpus, cpus, ends });
}

/** The clusters with what is free and held on their nodes. `ends`: when those that run are expected to end. */
export function toRoundClusters({
  clusters,
  reservations,
  ends,
}: {
  clusters: readonly ClusterView[];
  reservations: ReadonlyMap<string, readonly Reservation[]>;
  ends: ReadonlyMap<string, Span>;
}): RoundCluster[] {
  return clusters.map((cluster) => {
    const items = reservations.get(cluster.name) ?? [];
    return {
      name: cluster.name,
      backfill: cluster.backfill,
      answering: cluster.answering,
      draining: cluster.draining === true,
      paused: cluster.paused ?? null,
      labels: cluster.labels ?? {},
      blocker: null,
      nodes: cluster.nodes.map((node) => {
        const here = items.filter((item) => item.node === node.id);
        const held = here.map(({ experiment, project, gpus, cpus }) => ({
          ...{ experiment, project, gpus, cpus },
          ends: ends.get(experiment) ?? null,
        }));
        const { id, gpusTotal, cpusTotal } = node;
        return { id, gpusTotal, cpusTotal, ...freeOn(node, here), held };
      }),
    };
  });
}

/** When a node will have room for `need`, and what is free on it then beside `need`. */
export interface Release {
  at: Span;
  left: Amount;
}

/**
 * When those that run on a node will have given back enough for `need`, in the order of their likely ends. Null: it
 * takes the end of one of which nobody knows when it ends (or more than the node has for us).
 */
export function releaseOf(need: Amount, node: FreeNode, now: number): Release | null {
  const at: Span = { early: now, likely: now, late: now };
  const free = { gpus: node.gpus, cpus: node.cpus };
  const known = node.held.filter((item) => item.ends !== null);
  if (known.length > 1) known.sort((a, b) => a.ends!.likely - b.ends!.likely);
  for (let next = 0; !fits(need, free); next += 1) {
    const item = known[next];
    if (item === undefined) return null;
    free.gpus += item.gpus;
    free.cpus += item.cpus;
    at.early = Math.max(at.early, item.ends!.early);
    at.likely = Math.max(at.likely, item.ends!.likely);
    at.late = Math.max(at.late, item.ends!.late);
  }
  return { at, left: { gpus: free.gpus - need.gpus, cpus: free.cpus - need.cpus } };
}
