import type { Reservation } from '../store/clusters/contract.ts';
import type { Waiting } from '../store/queue/contract.ts';
import { createHeap } from './heap.ts';
import type { Amount, RoundCluster } from './nodes.ts';

/*
 * Whose turn it is. Priority comes first. Among experiments of equal priority the next is of the project with the
 * smallest dominant share for its weight (dominant resource fairness: A. Ghodsi and others, NSDI 2011; Kueue's fair
 * sharing admits by the same value): max(GPUs held / all GPUs, CPUs held / all CPUs) / weight. Inside a project the
 * first that came is the first. There is no memory: a project that held nothing yesterday has no credit today.
 *
 * What always holds: the experiments of a project come in the order of the line.
 */

/** The order of a schedule, made as it goes. */
export interface Order {
  /** The next in turn; undefined at the end, or where the window of a project is used up: see `dry`. */
  next(): Waiting | undefined;
  /** The one that `next` gave last has its turn: its project's share counts it from now on. */
  count(item: Waiting): void;
  /** The project of which more may wait than was given: who is next is not known. */
  dry(): string | null;
}

interface Queue {
  project: string;
  weight: number;
  held: Amount;
  share: number;
  /** Places in the line of those that are still to come, from `at` on, and the priority of the first of them. */
  places: number[];
  at: number;
  priority: number;
}

/** What all nodes have together. */
export function capacityOf(clusters: readonly RoundCluster[]): Amount {
  const nodes = clusters.flatMap((cluster) => cluster.nodes);
  return {
    gpus: nodes.reduce((sum, node) => sum + node.gpusTotal, 0),
    cpus: nodes.reduce((sum, node) => sum + node.cpusTotal, 0),
  };
}

/** What each project holds, on nodes that are seen and on others. */
export function holdings(reservations: Iterable<readonly Reservation[]>): Map<string, Amount> {
  const all = new Map<string, Amount>();
  for (const items of reservations)
    for (const { project, gpus, cpus } of items) {
      const sum = all.get(project) ?? { gpus: 0, cpus: 0 };
      all.set(project, { gpus: sum.gpus + gpus, cpus: sum.cpus + cpus });
    }
  return all;
}

/** The dominant share: the larger of a project's shares of all GPUs and of all CPUs. */
export function dominantShare(held: Amount, all: Amount): number {
  return Math.max(all.gpus > 0 ? held.gpus / all.gpus : 0, all.cpus > 0 ? held.cpus / all.cpus : 0);
}

/** See {@link Order}. `waiting` is in the order of the line; of the projects in `truncated` more wait than are given. */
export function createOrder({
  waiting,
  held,
  capacity,
  weightOf,
  truncated,
  isClosed = () => false,
}: {
  waiting: readonly Waiting[];
  held: ReadonlyMap<string, Amount>;
  capacity: Amount;
  weightOf: (project: string) => number;
  truncated: ReadonlySet<string>;
  /** Whether none of the project can start any more in this round: then its window need not be longer. */
  isClosed?: (project: string) => boolean;
}): Order {
  const queues = new Map<string, Queue>();
  const shareOf = (queue: Queue) => dominantShare(queue.held, capacity) / queue.weight;
  for (const [place, { project, priority }] of waiting.entries()) {
    const known = queues.get(project);
    if (known !== undefined) {
      known.places.push(place);
      continue;
    }
    const { gpus, cpus } = held.get(project) ?? { gpus: 0, cpus: 0 };
    const weight = weightOf(project);
    const queue = { project, weight, held: { gpus, cpus }, share: 0, places: [place], at: 0, priority };
    queue.share = shareOf(queue);
    queues.set(project, queue);
  }
  const heap = createHeap(before);
  for (const queue of queues.values()) heap.push(queue);
  let dry: string | null = [...truncated].find((project) => !queues.has(project)) ?? null;
  /** The one whose experiment has its turn; it goes back with the share that it has then. */
  let current: Queue | undefined;

  function putBack(queue: Queue): void {
    const place = queue.places[queue.at];
    if (place !== undefined) {
      queue.priority = waiting[place]!.priority;
      heap.push(queue);
    } else if (truncated.has(queue.project) && !isClosed(queue.project)) dry = queue.project;
  }

  return {
    dry: () => dry,
    next() {
      if (current !== undefined) putBack(current);
      current = dry === null ? heap.pop() : undefined;
      if (current === undefined) return undefined;
      const item = waiting[current.places[current.at]!]!;
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

/** Whether the first of `a` comes before the first of `b`. */
function before(a: Queue, b: Queue): boolean {
  if (a.priority !== b.priority) return a.priority > b.priority;
  return a.share !== b.share ? a.share < b.share : a.places[a.at]! < b.places[b.at]!;
}
