import { plural } from 'echelon-verify/text/plural';
import type { Ended } from '../../core/events.ts';
import type { AllocatedNode } from '../../core/launch-plan.ts';
import { faultsIn } from '../../core/node-health.ts';
import type { Lease } from '../../store/attempts/types.ts';
import type { Cluster, ClusterNode, NodeFault } from '../../store/clusters/types.ts';
import type { Store } from '../../store/store.ts';
import type { Log } from '../log.ts';

/** After how many faults of the cluster within `forMs` a node is cordoned, and for how long. `after` 0: never. */
export interface CordonRule {
  after: number;
  forMs: number;
}

type Cordons = NonNullable<Cluster['cordons']>;

/** Attempts that end within this time on one node were ended by one fault. */
const ONE_FAULT_MS = 60_000;
/** What the ray-worker says after a loss of Ray's head, which is no fault of a node (failures.py). */
export const HEAD_FAULT = 'the head of Ray did not answer';
const EPSILON = 1e-9;
const MAX_FAULTS = 3;

/** The faults of a node. An attempt on several nodes counts on each of them by its share, because any of them may be at fault. */
export function faultsOf(node: string, faults: readonly NodeFault[]): number {
  let [count, last] = [0, Number.NEGATIVE_INFINITY];
  for (const { at, share } of faults.filter((one) => one.node === node).toSorted((a, b) => a.at - b.at)) {
    if (at - last < ONE_FAULT_MS) continue;
    count += share;
    last = at;
  }
  return count;
}

/**
 * The cluster's cordons after these faults. At least half of its nodes continue to accept experiments: a fault of more nodes is
 * the cluster's, and without nodes nothing would run.
 */
export function cordonFaulty(
  cordons: Cordons,
  nodes: readonly ClusterNode[],
  known: { rule: CordonRule; now: number; faults: readonly NodeFault[]; message: string },
): Cordons {
  const { rule, now, faults, message } = known;
  let after = cordons;
  for (const { id } of nodes) {
    const count = faultsOf(id, faults);
    if (count < rule.after - EPSILON || !mayCordon(id, nodes, after)) continue;
    const reason = `${plural(Math.ceil(count - EPSILON), 'fault')} within ${rule.forMs / 60_000} min, the last: ${message}`;
    after = { ...after, [id]: { by: 'echelon', at: now, until: now + rule.forMs, reason } };
  }
  return after;
}

function mayCordon(id: string, nodes: readonly ClusterNode[], cordons: Cordons): boolean {
  const closed = nodes.filter((node) => node.draining !== undefined || cordons[node.id] !== undefined).length;
  return cordons[id] === undefined && 2 * (closed + 1) <= nodes.length;
}

/** The nodes whose GPUs have faults that the report before did not have, with the faults in words. */
function newlyBroken(before: readonly ClusterNode[], nodes: readonly ClusterNode[]): Map<string, string> {
  const known = new Map(before.map(({ id, health }) => [id, faultsIn(health)]));
  return new Map(
    nodes.flatMap(({ id, health }): [string, string][] => {
      const faults = faultsIn(health).filter((fault) => !known.get(id)?.includes(fault));
      return faults.length === 0 ? [] : [[id, faults.slice(0, MAX_FAULTS).join('; ')]];
    }),
  );
}

/**
 * Cordons nodes whose GPUs have new faults; to be called before the report is stored. These cordons last until `uncordon`, because
 * no time repairs a GPU. A fault that is still reported after `uncordon` does not cordon the node again.
 */
export async function cordonBroken(
  { store, cordon, log }: { store: Store; cordon?: CordonRule | undefined; log: Log },
  cluster: Cluster,
  nodes: readonly ClusterNode[],
): Promise<void> {
  const broken = newlyBroken(cluster.nodes, nodes);
  if (!cordon || cordon.after === 0 || broken.size === 0) return;
  const at = await store.clusters.now();
  await store.clusters.editCordons(cluster.name, (before) => {
    let after = before;
    for (const [node, reason] of broken)
      if (mayCordon(node, nodes, after)) {
        log.warn({ cluster: cluster.name, node, reason }, 'a node is cordoned');
        after = { ...after, [node]: { by: 'echelon', at, reason } };
      }
    return after;
  });
}

/** Records that a fault of the cluster ended an attempt, and cordons nodes with repeated faults. Never rejects. */
export async function noteFault(
  { store, cordon, log }: { store: Store; cordon?: CordonRule | undefined; log: Log },
  attempt: { lease: Lease; cluster: string; nodes: readonly AllocatedNode[]; ended: Ended },
): Promise<void> {
  const { cluster, nodes, lease, ended } = attempt;
  const isOfNode = ended.cause === 'cluster-failed' && !ended.message.startsWith(HEAD_FAULT);
  // Parts without GPUs have environments, which no fault of a GPU or its connection ends.
  const blamed = nodes.some(({ gpus }) => gpus > 0) ? nodes.filter(({ gpus }) => gpus > 0) : nodes;
  if (!cordon || cordon.after === 0 || !isOfNode || blamed.length === 0) return;
  try {
    const seen = await store.clusters.noteFault(cluster, {
      attempt: `${lease.experiment}/${lease.attempt}`,
      nodes: blamed.map(({ id }) => id),
      withinMs: cordon.forMs,
    });
    await store.clusters.editCordons(cluster, (before, { nodes: all }) => {
      const after = cordonFaulty(before, all, { rule: cordon, ...seen, message: ended.message });
      for (const [node, { reason }] of Object.entries(after))
        if (before[node] === undefined) log.warn({ cluster, node, reason }, 'a node is cordoned');
      return after;
    });
  } catch (err) {
    log.warn({ cluster, err }, 'cannot record a fault of the cluster');
  }
}
