import type { Waiting } from '../store/queue/contract.ts';
import {
  type Amount,
  couldFitOn,
  EPSILON,
  type FreeNode,
  type Release,
  releaseOf,
  type Span,
} from './nodes.ts';

/*
 * EASY backfill: whoever is behind the head of a cluster may start out of turn exactly where that does not delay the
 * head's estimated start. Slurm states it so in slurm.conf(5), sched/backfill; the form with one reservation, that of
 * the head, is EASY's (D. Lifka 1995; A. Mu'alem and D. Feitelson, IEEE TPDS 12(6), 2001).
 *
 * The head needs one node. On each node where it could run, its start is estimated from the likely ends of those that
 * run there. Another may start on a node
 *   - where the head could never run; or
 *   - which will surely not have room for the head before another node of the cluster has; or
 *   - if it is over before the head could start there at the earliest; or
 *   - if the head still has room beside it at that time.
 * Where nobody knows when those on a node end, only what the head does not need there may be taken: that is the last
 * rule with nobody ended.
 */

/** Says where one that is behind the head of a cluster may start. */
export interface Backfill {
  /** `takes`: how long it will run; null: nobody knows. */
  allows(item: Waiting, node: FreeNode, takes: Span | null): boolean;
  /** It starts there. */
  take(item: Waiting, node: FreeNode, takes: Span | null): void;
  /** Where and when the head is expected to start; null: nobody knows. */
  head: { node: FreeNode; at: Span } | null;
}

interface Hold {
  release: Release | null;
  /** What those that stay may still take. */
  left: Amount;
}

/** See {@link Backfill}. `nodes`: all of the head's cluster, as they are when it is found to wait. */
export function createBackfill(head: Waiting, nodes: readonly FreeNode[], now: number): Backfill {
  const holds = new Map<FreeNode, Hold>();
  let first: Backfill['head'] = null;
  for (const node of nodes) {
    if (!couldFitOn(head, node)) continue;
    const release = releaseOf(head, node, now);
    const left = release?.left ?? { gpus: node.gpus - head.gpus, cpus: node.cpus - head.cpus };
    holds.set(node, { release, left: { ...left } });
    if (release !== null && (first === null || release.at.likely < first.at.likely))
      first = { node, at: release.at };
  }

  /** Whether it is over, or the head elsewhere, before the head could start on this node. */
  function isOverInTime({ release }: Hold, node: FreeNode, takes: Span | null): boolean {
    if (release === null) return false;
    if (first !== null && first.node !== node && first.at.late <= release.at.early) return true;
    return takes !== null && now + takes.late <= release.at.early;
  }

  return {
    head: first,
    allows(item, node, takes) {
      const hold = holds.get(node);
      return hold === undefined || isOverInTime(hold, node, takes) || isLeft(item, hold.left);
    },
    take({ gpus, cpus }, node, takes) {
      const hold = holds.get(node);
      if (hold === undefined || isOverInTime(hold, node, takes)) return;
      hold.left.gpus -= gpus;
      hold.left.cpus -= cpus;
    },
  };
}

/** Of what the head is short of, nothing may be taken; of the rest, what is left. */
function isLeft(need: Amount, left: Amount): boolean {
  return (
    (need.gpus <= 0 || need.gpus <= left.gpus + EPSILON) &&
    (need.cpus <= 0 || need.cpus <= left.cpus + EPSILON)
  );
}
