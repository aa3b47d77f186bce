import {
  type Amount,
  couldFitOn,
  EPSILON,
  type FreeNode,
  labelled,
  type Release,
  releaseOf,
  type Span,
} from './nodes.ts';
import { type Need, type Part, shapeOf } from './placement.ts';
import { latest } from './spans.ts';

/*
 * EASY backfill: an experiment after the blocked head of a cluster may start out of turn if that does not delay the head's
 * estimated start. Slurm states the same rule in slurm.conf(5), sched/backfill. The form with one reservation, for the
 * head, is EASY's (D. Lifka 1995; A. Mu'alem and D. Feitelson, IEEE TPDS 12(6), 2001).
 *
 * The head needs a number of nodes, mostly one (placement.ts). Its start on each possible node is estimated from the likely
 * ends of the attempts there. It starts when enough nodes have room, and the cluster has its other CPUs. Another experiment
 * may start on a node if one of these holds:
 *   - the head can never run on the node, for its size or its labels;
 *   - enough other nodes of the cluster will certainly have room for the head earlier;
 *   - the experiment ends before the earliest start of the head there;
 *   - the head still has room beside the experiment at that time.
 * If the ends on a node are not known, the last rule applies as if no attempt there ended: an experiment may take only
 * what the head does not need. The same holds for the CPUs that the head may have on any node.
 */

/** Decides where experiments after the blocked head of a cluster may start. */
export interface Backfill {
  /** Whether the head's possible nodes have CPUs for the experiment that it does not need. `takes`: its run time; null: unknown. */
  admits(item: Amount, takes: Span | null): boolean;
  /** Whether the node has the labels that the head asks for. */
  concerns(node: FreeNode): boolean;
  /** What the experiment may take of the node. */
  roomOn(node: FreeNode, takes: Span | null): Amount;
  /** Records that the experiment starts there. */
  take(parts: readonly Part[], takes: Span | null): void;
  /** Where and when the head is expected to start: the last of its nodes; null: not known. */
  head: { node: FreeNode; at: Span } | null;
}

/** The head's reservation on one node, or of the CPUs of all nodes. */
interface HeadReservation {
  release: Release | null;
  /** GPUs and CPUs that experiments which are still running at the head's start may take. */
  left: Amount;
}

/** See {@link Backfill}. `nodes`: all nodes of the head's cluster, as they are when the head is blocked. */
export function createBackfill(head: Need, all: readonly FreeNode[], now: number): Backfill {
  const { nodes: count, each, anywhere } = shapeOf(head);
  const nodes = labelled(all, head);
  const own = new Set(nodes);
  const reservations = new Map<FreeNode, HeadReservation>();
  for (const node of nodes) if (couldFitOn(each, node)) reservations.set(node, reserve(each, node, now));
  const pool = anywhere > 0 ? reserve({ gpus: 0, cpus: head.cpus }, pooled(nodes), now) : null;
  const known = [...reservations].filter(([, { release }]) => release !== null);
  if (known.length > 1) known.sort(([, a], [, b]) => a.release!.at.likely - b.release!.at.likely);
  const first = known.slice(0, count);
  const start = first.length < count || pool?.release === null ? null : startOf(first, pool);
  const firstNodes = new Set(first.map(([node]) => node));

  /** Whether the experiment ends, or the head starts elsewhere, before the head could start on this node. */
  function endsInTime({ release }: HeadReservation, node: FreeNode | null, takes: Span | null): boolean {
    if (release === null) return false;
    if (node !== null && start !== null && !firstNodes.has(node) && start.at.late <= release.at.early)
      return true;
    return takes !== null && now + takes.late <= release.at.early;
  }

  return {
    head: start,
    concerns: (node) => own.has(node),
    admits: ({ cpus }, takes) =>
      pool === null || cpus <= 0 || endsInTime(pool, null, takes) || cpus <= pool.left.cpus + EPSILON,
    roomOn(node, takes) {
      const reserved = reservations.get(node);
      if (reserved === undefined || endsInTime(reserved, node, takes)) return node;
      // What the head lacks, no experiment may take; of the rest, what the head leaves.
      const { gpus, cpus } = reserved.left;
      return {
        gpus: Math.min(node.gpus, Math.max(0, gpus)),
        cpus: Math.min(node.cpus, Math.max(0, cpus)),
      };
    },
    take(parts, takes) {
      for (const { node, gpus, cpus } of parts) {
        if (pool !== null && own.has(node) && !endsInTime(pool, null, takes)) pool.left.cpus -= cpus;
        const reserved = reservations.get(node);
        if (reserved === undefined || endsInTime(reserved, node, takes)) continue;
        reserved.left.gpus -= gpus;
        reserved.left.cpus -= cpus;
      }
    },
  };
}

function reserve(need: Amount, node: FreeNode, now: number): HeadReservation {
  const release = releaseOf(need, node, now);
  const left = release?.left ?? { gpus: node.gpus - need.gpus, cpus: node.cpus - need.cpus };
  return { release, left: { ...left } };
}

/** All nodes as one. */
function pooled(nodes: readonly FreeNode[]): FreeNode {
  const sum = (what: 'gpus' | 'cpus' | 'gpusTotal' | 'cpusTotal') =>
    nodes.reduce((all, node) => all + node[what], 0);
  const freed = (what: 'gpus' | 'cpus') => nodes.reduce((all, node) => all + (node.freed?.[what] ?? 0), 0);
  return {
    id: 'all',
    gpus: sum('gpus'),
    cpus: sum('cpus'),
    freed: { gpus: freed('gpus'), cpus: freed('cpus') },
    gpusTotal: sum('gpusTotal'),
    cpusTotal: sum('cpusTotal'),
    allocations: nodes.flatMap((node) => node.allocations),
  };
}

/** The head starts when the last of its nodes, and the CPUs of the pool, have room. */
function startOf(
  first: readonly (readonly [FreeNode, HeadReservation])[],
  pool: HeadReservation | null,
): { node: FreeNode; at: Span } {
  const all = [...first.map(([, { release }]) => release!.at), ...(pool === null ? [] : [pool.release!.at])];
  return { node: first.at(-1)![0], at: all.reduce(latest) };
}
