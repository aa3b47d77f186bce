import { rankOf } from '../core/priority-class.ts';
import type { Allocation } from '../store/clusters/types.ts';
import type { QueuedExperiment } from '../store/queue/types.ts';
import { createHeap } from './heap.ts';
import type { Amount, RoundCluster } from './nodes.ts';
import { count } from './quotas.ts';

/*
 * The order of turns. Class and priority come first. Among experiments of equal ones, the next one belongs to the project with
 * the smallest dominant share for its weight: max(GPUs held / all GPUs, CPUs held / all CPUs) / weight (dominant resource
 * fairness: A. Ghodsi and others, NSDI 2011; Kueue's fair sharing admits by the same value). Within a project, the order is
 * that of arrival. There is no history: a project that held nothing yesterday has no credit today.
 *
 * Invariant: the experiments of a project come in the order of the queue.
 */

/** The order of turns of a scheduling round, which depends on what the round starts. */
interface Order {
  /** The next experiment; undefined at the end, or when the window of a project is used up: see `dry`. */
  next(): QueuedExperiment | undefined;
  /** Counts the experiment that `next` returned last towards its project's share. */
  count(item: QueuedExperiment): void;
  /** The project that may have more queued experiments than were given, so the next experiment is not known; or null. */
  dry(): string | null;
}

interface ProjectQueue {
  project: string;
  weight: number;
  held: Amount;
  share: number;
  /** Positions in the queue of its experiments. Those from `at` on have not had their turn. */
  positions: number[];
  at: number;
  /** Of the next experiment, by class and priority. */
  rank: number;
}

/** The sum over all nodes. */
export function capacityOf(clusters: readonly RoundCluster[]): Amount {
  const nodes = clusters.flatMap((cluster) => cluster.nodes);
  return {
    gpus: nodes.reduce((sum, node) => sum + node.gpusTotal, 0),
    cpus: nodes.reduce((sum, node) => sum + node.cpusTotal, 0),
  };
}

/** What each project holds, including on nodes that the clusters no longer report. */
export function holdings(allocations: Iterable<readonly Allocation[]>): Map<string, Amount> {
  const all = new Map<string, Amount>();
  for (const items of allocations) for (const item of items) count(all, item);
  return all;
}

/** The dominant share: the larger of a project's shares of all GPUs and of all CPUs. */
export function dominantShare(held: Amount, all: Amount): number {
  return Math.max(all.gpus > 0 ? held.gpus / all.gpus : 0, all.cpus > 0 ? held.cpus / all.cpus : 0);
}

interface OrderInput {
  queued: readonly QueuedExperiment[];
  held: ReadonlyMap<string, Amount>;
  capacity: Amount;
  weightOf: (project: string) => number;
  truncated: ReadonlySet<string>;
  /** Whether no experiment of the project can start any more in this round: a longer window would not help. */
  isClosed?: (project: string) => boolean;
}

/** See {@link Order}. `queued` is in the order of the queue. Projects in `truncated` have more queued experiments. */
export function createOrder({
  queued,
  held,
  capacity,
  weightOf,
  truncated,
  isClosed = () => false,
}: OrderInput): Order {
  const queues = new Map<string, ProjectQueue>();
  const shareOf = (queue: ProjectQueue) => dominantShare(queue.held, capacity) / queue.weight;
  for (const [project, positions] of Map.groupBy(queued.keys(), (at) => queued[at]!.project)) {
    const { gpus, cpus } = held.get(project) ?? { gpus: 0, cpus: 0 };
    const [weight, rank] = [weightOf(project), rankOf(queued[positions[0]!]!)];
    const queue = { project, weight, held: { gpus, cpus }, share: 0, positions, at: 0, rank };
    queue.share = shareOf(queue);
    queues.set(project, queue);
  }
  const heap = createHeap(before);
  for (const queue of queues.values()) heap.push(queue);
  let dry: string | null = [...truncated].find((project) => !queues.has(project)) ?? null;
  /** The queue of the experiment whose turn it is. It returns to the heap with the share that it then has. */
  let current: ProjectQueue | undefined;

  function putBack(queue: ProjectQueue): void {
    const position = queue.positions[queue.at];
    if (position !== undefined) {
      queue.rank = rankOf(queued[position]!);
      heap.push(queue);
    } else if (truncated.has(queue.project) && !isClosed(queue.project)) dry = queue.project;
  }

  return {
    dry: () => dry,
    next() {
      if (current !== undefined) putBack(current);
      current = dry === null ? heap.pop() : undefined;
      if (current === undefined) return undefined;
      const item = queued[current.positions[current.at]!]!;
      current.at += 1;
      return item;
    },
    count({ gpus, cpus }) {
      if (current === undefined) return;
      current.held.gpus += gpus;
      current.held.cpus += cpus;
      current.share = shareOf(current);
    },
  };
}

/** Whether the next experiment of `a` comes before the next one of `b`. */
function before(a: ProjectQueue, b: ProjectQueue): boolean {
  if (a.rank !== b.rank) return a.rank > b.rank;
  return a.share !== b.share ? a.share < b.share : a.positions[a.at]! < b.positions[b.at]!;
}
