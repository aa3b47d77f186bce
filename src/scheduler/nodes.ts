import { type Cordon, type NodeUse, nodeState } from '../core/node-states.ts';
import type { PriorityClass } from '../core/priority-class.ts';
import type { Allocation, Asked, AwayNode, ClusterNode, NodeType } from '../store/clusters/types.ts';
import type { QueuedExperiment } from '../store/queue/types.ts';
import type { SlurmWait } from './slurm-words.ts';

/*
 * Invariant: `gpus` and `cpus` of a node can be allocated now. They are total − max(used in Ray, allocated by Echelon),
 * less what this round has allocated already. `allocations` lists the experiments on the node and their expected ends. `freed`
 * is not free yet, but nothing has to end for it: the reports of Ray lag after the ends of attempts.
 */

/** The earliest, most likely and latest value of an instant or a duration, in ms. */
export interface Span {
  early: number;
  likely: number;
  late: number;
}

/** A cluster as the scheduler receives it. */
export interface SchedulerCluster {
  name: string;
  backfill: boolean;
  /** Whether its ray-worker answered recently. If not, nothing starts there. */
  answering: boolean;
  /** Nothing new starts there. */
  draining?: boolean;
  /** If set, nothing new starts there. The words follow "cluster NAME is paused". */
  paused?: string | null;
  labels?: Readonly<Record<string, string>>;
  nodes: readonly ClusterNode[];
  /** Nodes that take no new experiment, by id. */
  cordons?: Readonly<Record<string, Cordon>>;
  /** Name of the storage of its shared root. */
  storage?: string | undefined;
  /** Nodes that its autoscaler may bring. */
  nodeTypes?: readonly NodeType[];
  /** Nodes that were there shortly before. */
  away?: readonly AwayNode[];
  /** What its autoscaler was last asked for. */
  asked?: Asked | undefined;
  /** Its jobs in Slurm. Absent: it gets no nodes from Slurm. */
  slurm?: SlurmWait | undefined;
}

/** A number of GPUs and CPUs. */
export interface Amount {
  gpus: number;
  cpus: number;
}

/** GPUs and CPUs of a node that an experiment has, and its expected end; null: not known. */
export interface NodeAllocation extends Amount {
  experiment: string;
  project: string;
  /** Absent: `normal`. */
  priorityClass?: PriorityClass | undefined;
  ends: Span | null;
}

/** Labels of a node by name, or those that an experiment asks of its nodes. */
export type NodeLabels = Readonly<Record<string, string>>;

/** A node with its free GPUs and CPUs. */
export interface FreeNode extends Amount {
  id: string;
  gpusTotal: number;
  cpusTotal: number;
  /** Ray's labels of the node. Absent: it has none. */
  labels?: NodeLabels | undefined;
  allocations: NodeAllocation[];
  /** When it leaves, in ms since 1970: Slurm gave it for a time. Absent: it stays. */
  endsAt?: number | undefined;
  /** What Ray still counts as used by attempts that have just ended. Absent: nothing. */
  freed?: Amount | undefined;
  /** What Ray jobs of other users use there. Absent: not known. */
  others?: readonly NodeUse[];
}

/** A node on which nothing new starts. `why`: in words, after "node X: ". `leaving`: Ray drains it. */
export interface ClosedNode extends FreeNode {
  why: string;
  leaving: boolean;
}

/** The size of a node, and its labels. */
export type NodeSize = Pick<FreeNode, 'id' | 'gpusTotal' | 'cpusTotal' | 'labels'>;

/** MAX nodes of a type that a question for room considers. */
const MAX_OF_TYPE = 64;

/**
 * All nodes that the cluster has, had shortly before, or may get from its autoscaler: a drain, a cordon or an absence may end.
 * None: the cluster was not seen yet.
 */
export function possibleNodes(
  { away = [], nodeTypes = [] }: Pick<SchedulerCluster, 'away' | 'nodeTypes'>,
  nodes: readonly NodeSize[],
): NodeSize[] {
  const types = nodeTypes.flatMap(({ gpus, cpus, labels, max }, type) =>
    Array.from({ length: Math.min(max, MAX_OF_TYPE) }, (_, at): NodeSize => {
      return { id: `type-${type}-${at}`, gpusTotal: gpus, cpusTotal: cpus, labels };
    }),
  );
  return [...nodes, ...away, ...types];
}

/** A cluster during a scheduling round. */
export interface RoundCluster {
  name: string;
  backfill: boolean;
  answering: boolean;
  draining: boolean;
  paused: string | null;
  labels: Readonly<Record<string, string>>;
  /** The nodes on which something may start. */
  nodes: FreeNode[];
  /** Drained and cordoned nodes: nothing new starts there, and what is free there counts for nothing. */
  closedNodes: ClosedNode[];
  storage: string | undefined;
  nodeTypes: readonly NodeType[];
  away: readonly AwayNode[];
  asked: Asked | undefined;
  slurm: SlurmWait | undefined;
  /** The blocked head: the first experiment that waits for this cluster; null: there is none. */
  blocker: QueuedExperiment | null;
}

/** Amounts are sums of decimal fractions: smaller differences are rounding errors. */
export const EPSILON = 1e-6;

/**
 * The free GPUs and CPUs of a node. An allocation that Ray does not show yet and another job's use are different things, so both
 * are subtracted; of one experiment, the larger of its allocation and its use. If the ray-worker does not tell whose a use is:
 * total − max(used in Ray, allocated by Echelon).
 */
export function freeOn(node: ClusterNode, allocations: readonly Allocation[]): Amount {
  const ours = allocations.filter((item) => item.node === node.id);
  if (node.uses !== undefined) {
    const { uses } = node;
    const freeOf = (what: 'gpus' | 'cpus', total: number) =>
      Math.max(0, total - takenOf(what, { ours, uses }));
    return { gpus: freeOf('gpus', node.gpusTotal), cpus: freeOf('cpus', node.cpusTotal) };
  }
  const gpus = ours.reduce((sum, item) => sum + item.gpus, 0);
  const cpus = ours.reduce((sum, item) => sum + item.cpus, 0);
  return {
    gpus: Math.max(0, node.gpusTotal - Math.max(node.gpusUsed, gpus)),
    cpus: Math.max(0, node.cpusTotal - Math.max(node.cpusUsed, cpus)),
  };
}

function takenOf(
  what: 'gpus' | 'cpus',
  { ours, uses }: { ours: readonly Allocation[]; uses: readonly NodeUse[] },
): number {
  const allocated = sums(ours, what);
  const used = sums(uses, what);
  const others = used.get(null) ?? 0;
  used.delete(null);
  const experiments = new Set([...allocated.keys(), ...used.keys()]);
  return [...experiments].reduce(
    (sum, id) => sum + Math.max(allocated.get(id) ?? 0, used.get(id) ?? 0),
    others,
  );
}

/** The amounts by experiment. */
function sums(
  items: readonly ({ experiment: string | null } & Amount)[],
  what: 'gpus' | 'cpus',
): Map<string | null, number> {
  const all = new Map<string | null, number>();
  for (const item of items) all.set(item.experiment, (all.get(item.experiment) ?? 0) + item[what]);
  return all;
}

/**
 * What the report of a node still counts as used by attempts that have just ended: the use of their experiments beyond what these
 * have now, and what no job explains, up to the allocations that ended. Undefined: nothing.
 */
function freedOn(
  node: ClusterNode,
  ours: readonly Allocation[],
  ended: readonly Allocation[],
): Amount | undefined {
  const here = ended.filter((item) => item.node === node.id);
  if (here.length === 0) return undefined;
  const amount = (what: 'gpus' | 'cpus') => {
    const total = here.reduce((sum, item) => sum + item[what], 0);
    const held = sums(ours, what);
    if (node.uses === undefined) {
      const inUse = what === 'gpus' ? node.gpusUsed : node.cpusUsed;
      const allocated = [...held.values()].reduce((sum, count) => sum + count, 0);
      return Math.max(0, Math.min(total, inUse - allocated));
    }
    const used = sums(node.uses, what);
    const ids = new Set(here.map(({ experiment }) => experiment));
    const own = [...ids].reduce((sum, id) => sum + Math.max(0, (used.get(id) ?? 0) - (held.get(id) ?? 0)), 0);
    const unexplained = node.uses.filter(({ experiment, since }) => experiment === null && since === null);
    const rest = unexplained.reduce((sum, use) => sum + use[what], 0);
    return own + Math.min(rest, Math.max(0, total - own));
  };
  const freed = { gpus: amount('gpus'), cpus: amount('cpus') };
  return freed.gpus > EPSILON || freed.cpus > EPSILON ? freed : undefined;
}

/** Whether `has` covers all of `need`. */
export function fits(need: Amount, has: Amount): boolean {
  return need.gpus <= has.gpus + EPSILON && need.cpus <= has.cpus + EPSILON;
}

/** Whether `has` contains all of `wanted`. */
export function hasLabels(wanted: NodeLabels, has: NodeLabels = {}): boolean {
  return Object.entries(wanted).every(([key, value]) => has[key] === value);
}

/**
 * The nodes on which an experiment may run that asks for those labels (absent: any), and whose work is saved by `savesBy` (ms
 * since 1970; absent: not known): those that do not leave before.
 */
export function labelled<T extends Pick<FreeNode, 'labels' | 'endsAt'>>(
  nodes: readonly T[],
  { nodeLabels, savesBy }: { nodeLabels?: NodeLabels | undefined; savesBy?: number | undefined },
): readonly T[] {
  const such = nodeLabels === undefined ? nodes : nodes.filter(({ labels }) => hasLabels(nodeLabels, labels));
  return savesBy === undefined
    ? such
    : such.filter(({ endsAt = Number.POSITIVE_INFINITY }) => endsAt >= savesBy);
}

/** Whether the node would have room if it were empty. */
export function couldFitOn(need: Amount, node: Pick<FreeNode, 'gpusTotal' | 'cpusTotal'>): boolean {
  return fits(need, { gpus: node.gpusTotal, cpus: node.cpusTotal });
}

/** Allocates to an experiment what it gets of a node. */
export function take(
  { node, gpus, cpus }: Amount & { node: FreeNode },
  { experiment, project, priorityClass }: Pick<QueuedExperiment, 'experiment' | 'project' | 'priorityClass'>,
  ends: Span | null,
): void {
  node.gpus -= gpus;
  node.cpus -= cpus;
  node.allocations.push({ experiment, project, priorityClass, gpus, cpus, ends });
}

/**
 * The clusters with free and allocated amounts of their nodes. `freed`: allocations that have just ended. `ends`: expected ends of
 * the running experiments.
 */
export function toRoundClusters({
  clusters,
  allocations,
  freed,
  ends,
}: {
  clusters: readonly SchedulerCluster[];
  allocations: ReadonlyMap<string, readonly Allocation[]>;
  freed?: ReadonlyMap<string, readonly Allocation[]> | undefined;
  ends: ReadonlyMap<string, Span>;
}): RoundCluster[] {
  return clusters.map((cluster) => {
    const items = allocations.get(cluster.name) ?? [];
    const ended = freed?.get(cluster.name) ?? [];
    const nodes = cluster.nodes.map((node) => {
      const endsAt = cluster.slurm?.ends.get(node.id);
      return { ...toFreeNode(node, { items, ended, ends }), ...(endsAt !== undefined && { endsAt }) };
    });
    const whys = cluster.nodes.map(
      (node) => nodeState({ ...node, cordon: cluster.cordons?.[node.id] }).reason,
    );
    return {
      name: cluster.name,
      backfill: cluster.backfill,
      answering: cluster.answering,
      draining: cluster.draining === true,
      paused: cluster.paused ?? null,
      labels: cluster.labels ?? {},
      storage: cluster.storage,
      nodeTypes: cluster.nodeTypes ?? [],
      away: cluster.away ?? [],
      slurm: cluster.slurm,
      asked: cluster.asked,
      blocker: null,
      nodes: nodes.filter((_node, at) => whys[at] === ''),
      closedNodes: nodes.flatMap((node, at) => {
        const leaving = cluster.nodes[at]!.draining !== undefined;
        return whys[at] === '' ? [] : [{ ...node, why: whys[at]!, leaving }];
      }),
    };
  });
}

function toFreeNode(
  node: ClusterNode,
  {
    items,
    ended,
    ends,
  }: { items: readonly Allocation[]; ended: readonly Allocation[]; ends: ReadonlyMap<string, Span> },
): FreeNode {
  const here = items.filter((item) => item.node === node.id);
  const allocated = here.map(({ experiment, project, priorityClass, gpus, cpus }) => ({
    experiment,
    project,
    ...(priorityClass !== undefined && { priorityClass }),
    gpus,
    cpus,
    ends: ends.get(experiment) ?? null,
  }));
  const { id, gpusTotal, cpusTotal, labels } = node;
  const others = node.uses?.filter(({ experiment }) => experiment === null) ?? [];
  const freed = freedOn(node, here, ended);
  return {
    ...{ id, gpusTotal, cpusTotal, labels, ...freeOn(node, here), allocations: allocated },
    ...(freed !== undefined && { freed }),
    ...(others.length > 0 && { others }),
  };
}

/** What is free on a node once the report of Ray has followed the ends of attempts. */
export function soonFree({ gpus, cpus, freed }: Amount & Pick<FreeNode, 'freed'>): Amount {
  return { gpus: gpus + (freed?.gpus ?? 0), cpus: cpus + (freed?.cpus ?? 0) };
}

/** When a node will have room for some amount, and what is then free beside that amount. */
export interface Release {
  at: Span;
  left: Amount;
}

/**
 * When enough attempts on a node will have ended to make room for `need`, in the order of their likely ends. Null: an
 * attempt with an unknown end must end first, or Echelon cannot get that much of the node.
 */
export function releaseOf(need: Amount, node: FreeNode, now: number): Release | null {
  const at: Span = { early: now, likely: now, late: now };
  const free = soonFree(node);
  const known = node.allocations.filter((item) => item.ends !== null);
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
