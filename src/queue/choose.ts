import type { ClusterNode, Reservation, Waiting } from '../store/store.ts';

/*
 * What always holds: on no node is more handed out than it has; on a cluster without backfill nothing starts past
 * an experiment that waits for that cluster and could fit it one day.
 */

/** A cluster as the choice sees it. */
export interface ChoiceCluster {
  name: string;
  backfill: boolean;
  /** Whether its ray-worker answered lately; on one that did not, nothing is started. */
  answering: boolean;
  /** Nothing new starts there. */
  draining?: boolean;
  nodes: readonly ClusterNode[];
}

/** What the choice is made from. */
export interface ChoiceInput {
  /** In the order of the line. */
  waiting: readonly Waiting[];
  clusters: readonly ChoiceCluster[];
  /** What was handed out, by cluster name. */
  reservations: ReadonlyMap<string, readonly Reservation[]>;
}

/** One experiment that can start now, and where. */
export interface Start {
  experiment: string;
  cluster: string;
  node: string;
  gpus: number;
  cpus: number;
}

/** The choice: who starts, why the others wait, and the clusters on which somebody further behind might still fit. */
export interface Choice {
  start: Start[];
  reasons: Map<string, string>;
  open: string[];
}

/** Resources are sums of decimal fractions: differences below this are rounding. */
const EPSILON = 1e-6;

interface FreeNode {
  id: string;
  cpusTotal: number;
  gpusTotal: number;
  cpus: number;
  gpus: number;
}

interface OpenCluster {
  name: string;
  backfill: boolean;
  answering: boolean;
  draining: boolean;
  nodes: FreeNode[];
  /** The experiment that holds the place in front of all others; null while there is none. */
  blocker: string | null;
}

/**
 * What is free on a node: total − max(used in Ray, handed out by us). Ray's figure contains what we placed, ours
 * also what is not placed yet.
 */
export function freeOn(
  node: ClusterNode,
  reservations: readonly Reservation[],
): { gpus: number; cpus: number } {
  const ours = reservations.filter((item) => item.node === node.id);
  const gpus = ours.reduce((sum, item) => sum + item.gpus, 0);
  const cpus = ours.reduce((sum, item) => sum + item.cpus, 0);
  return {
    gpus: Math.max(0, node.gpusTotal - Math.max(node.gpusUsed, gpus)),
    cpus: Math.max(0, node.cpusTotal - Math.max(node.cpusUsed, cpus)),
  };
}

function fits(need: { gpus: number; cpus: number }, has: { gpus: number; cpus: number }): boolean {
  return need.gpus <= has.gpus + EPSILON && need.cpus <= has.cpus + EPSILON;
}

/** The fullest node that still has room, so that large holes stay whole; ties go to the lower id. */
function bestNode(need: Waiting, nodes: readonly FreeNode[]): FreeNode | undefined {
  let best: FreeNode | undefined;
  for (const node of nodes) {
    if (!fits(need, node)) continue;
    if (
      best === undefined ||
      node.gpus < best.gpus ||
      (node.gpus === best.gpus && (node.cpus < best.cpus || (node.cpus === best.cpus && node.id < best.id)))
    )
      best = node;
  }
  return best;
}

function couldFit(need: Waiting, cluster: OpenCluster): boolean {
  // A cluster that has not been seen yet has no nodes: nothing is known, so nothing is ruled out.
  if (cluster.nodes.length === 0) return true;
  return cluster.nodes.some((node) => fits(need, { gpus: node.gpusTotal, cpus: node.cpusTotal }));
}

function plural(count: number, word: string): string {
  return `${count} ${word}${count === 1 ? '' : 's'}`;
}

function needInWords({ gpus, cpus }: Waiting): string {
  return gpus > 0 ? `${plural(gpus, 'GPU')} and ${plural(cpus, 'CPU')}` : plural(cpus, 'CPU');
}

function tooLarge(item: Waiting, clusters: readonly OpenCluster[]): string {
  const where = item.cluster === null ? 'any cluster' : `cluster ${item.cluster}`;
  const nodes = clusters.flatMap((cluster) => cluster.nodes);
  const gpus = nodes.reduce((most, node) => Math.max(most, node.gpusTotal), 0);
  const cpus = nodes.reduce((most, node) => Math.max(most, node.cpusTotal), 0);
  return (
    `can never fit: needs ${needInWords(item)} on one node; the nodes of ${where} have at most ` +
    `${plural(gpus, 'GPU')} and ${plural(cpus, 'CPU')}`
  );
}

function freest(clusters: readonly OpenCluster[], need: Waiting): string {
  const nodes = clusters.flatMap((cluster) => cluster.nodes);
  // GPUs are what is short where they are asked for; else CPUs.
  const most = nodes.toSorted((a, b) =>
    need.gpus > 0 ? b.gpus - a.gpus || b.cpus - a.cpus : b.cpus - a.cpus,
  )[0];
  if (most === undefined) return 'no node is known';
  const cpus = Number(most.cpus.toFixed(2));
  return need.gpus > 0
    ? `the freest node has ${plural(most.gpus, 'GPU')} and ${plural(cpus, 'CPU')} free`
    : `the freest node has ${plural(cpus, 'CPU')} free`;
}

function drained(clusters: readonly OpenCluster[]): string {
  const names = clusters.map((cluster) => cluster.name).join(', ');
  return clusters.length === 1
    ? `cluster ${names} is draining: nothing new starts there`
    : `the clusters ${names} are draining: nothing new starts there`;
}

/** Why it waits although it is at the front, or undefined where it does not. Takes the room where there is some. */
function place(item: Waiting, eligible: readonly OpenCluster[]): Start | string {
  if (eligible.length === 0)
    return item.cluster === null ? 'no cluster is known yet' : `there is no cluster ${item.cluster}`;
  const possible = eligible.filter((cluster) => couldFit(item, cluster));
  if (possible.length === 0) return tooLarge(item, eligible);
  const taking = possible.filter((cluster) => !cluster.draining);
  if (taking.length === 0) return drained(possible);
  for (const cluster of taking) {
    if (!cluster.answering || (cluster.blocker !== null && !cluster.backfill)) continue;
    const node = bestNode(item, cluster.nodes);
    if (node === undefined) continue;
    node.gpus -= item.gpus;
    node.cpus -= item.cpus;
    return {
      experiment: item.experiment,
      cluster: cluster.name,
      node: node.id,
      gpus: item.gpus,
      cpus: item.cpus,
    };
  }
  const answering = taking.filter((cluster) => cluster.answering);
  const blocked = answering.find((cluster) => cluster.blocker !== null && !cluster.backfill);
  const reason =
    answering.length === 0
      ? `the ray-worker of ${taking.map((cluster) => cluster.name).join(', ')} does not answer`
      : blocked !== undefined
        ? `waits behind ${blocked.blocker}, which is ahead in the line of ${blocked.name}`
        : `needs ${needInWords(item)} on one node; ${freest(answering, item)}`;
  // It holds its place wherever it could one day run.
  for (const cluster of taking) cluster.blocker ??= item.experiment;
  return reason;
}

/**
 * Chooses who starts now. In the order of the line, each experiment takes the fullest node that has room for all of
 * its GPUs and CPUs; one that does not fit holds its place on every cluster where it could, and those behind wait
 * there, unless the cluster allows backfill. One that can never fit says so and holds nobody up.
 */
export function choose({ waiting, clusters, reservations }: ChoiceInput): Choice {
  const all: OpenCluster[] = clusters.map((cluster) => ({
    name: cluster.name,
    backfill: cluster.backfill,
    answering: cluster.answering,
    draining: cluster.draining === true,
    blocker: null,
    nodes: cluster.nodes.map((node) => ({
      id: node.id,
      cpusTotal: node.cpusTotal,
      gpusTotal: node.gpusTotal,
      ...freeOn(node, reservations.get(cluster.name) ?? []),
    })),
  }));
  const start: Start[] = [];
  const reasons = new Map<string, string>();
  for (const item of waiting) {
    const eligible = item.cluster === null ? all : all.filter((cluster) => cluster.name === item.cluster);
    const placed = place(item, eligible);
    if (typeof placed === 'string') reasons.set(item.experiment, placed);
    else start.push(placed);
  }
  const open = all.filter(
    ({ answering, draining, blocker, backfill }) => answering && !draining && (blocker === null || backfill),
  );
  return { start, reasons, open: open.map((cluster) => cluster.name) };
}
