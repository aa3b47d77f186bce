import type { QueuedExperiment } from '../store/queue/contract.ts';
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
 * EASY backfill: an experiment after the blocked head of a cluster may start out of turn if that does not delay the head's
 * estimated start. Slurm states the same rule in slurm.conf(5), sched/backfill. The form with one reservation, for the
 * head, is EASY's (D. Lifka 1995; A. Mu'alem and D. Feitelson, IEEE TPDS 12(6), 2001).
 *
 * The head needs one node. Its start on each possible node is estimated from the likely ends of the attempts there.
 * Another experiment may start on a node if one of these holds:
 *   - the head can never run on the node;
 *   - another node of the cluster will certainly have room for the head earlier;
 *   - the experiment ends before the earliest start of the head there;
 *   - the head still has room beside the experiment at that time.
 * If the ends on a node are not known, the last rule applies as if no attempt there ended: an experiment may take only
 * what the head does not need.
 */

/** Decides where experiments after the blocked head of a cluster may start. */
export interface Backfill {
  /** `takes`: the run time of the experiment; null: not known. */
  allows(item: QueuedExperiment, node: FreeNode, takes: Span | null): boolean;
  /** Records that the experiment starts there. */
  take(item: QueuedExperiment, node: FreeNode, takes: Span | null): void;
  /** Where and when the head is expected to start; null: not known. */
  head: { node: FreeNode; at: Span } | null;
}

/** The head's reservation on one node. */
interface NodeReservation {
  release: Release | null;
  /** GPUs and CPUs that experiments which are still running at the head's start may take. */
  left: Amount;
}

/** See {@link Backfill}. `nodes`: all nodes of the head's cluster, as they are when the head is blocked. */
export function createBackfill(head: QueuedExperiment, nodes: readonly FreeNode[], now: number): Backfill {
  const reservations = new Map<FreeNode, NodeReservation>();
  let first: Backfill['head'] = null;
  for (const node of nodes) {
    if (!couldFitOn(head, node)) continue;
    const release = releaseOf(head, node, now);
    const left = release?.left ?? { gpus: node.gpus - head.gpus, cpus: node.cpus - head.cpus };
    reservations.set(node, { release, left: { ...left } });
    if (release !== null && (first === null || release.at.likely < first.at.likely))
      first = { node, at: release.at };
  }

  /** Whether the experiment ends, or the head starts elsewhere, before the head could start on this node. */
  function endsInTime({ release }: NodeReservation, node: FreeNode, takes: Span | null): boolean {
    if (release === null) return false;
    if (first !== null && first.node !== node && first.at.late <= release.at.early) return true;
    return takes !== null && now + takes.late <= release.at.early;
  }

  return {
    head: first,
    allows(item, node, takes) {
      const reserved = reservations.get(node);
      return reserved === undefined || endsInTime(reserved, node, takes) || isLeft(item, reserved.left);
    },
    take({ gpus, cpus }, node, takes) {
      const reserved = reservations.get(node);
      if (reserved === undefined || endsInTime(reserved, node, takes)) return;
      reserved.left.gpus -= gpus;
      reserved.left.cpus -= cpus;
    },
  };
}

/** An experiment may take nothing that the head lacks, and of the rest what the head leaves. */
function isLeft(need: Amount, left: Amount): boolean {
  return (
    (need.gpus <= 0 || need.gpus <= left.gpus + EPSILON) &&
    (need.cpus <= 0 || need.cpus <= left.cpus + EPSILON)
  );
}
