import { plural } from 'command-kit/plural';
import type { Ended } from '../../core/events.ts';
import type { AllocatedNode } from '../../core/launch-plan.ts';
import { faultsIn } from '../../core/node-health.ts';
import type { Cordon } from '../../core/node-states.ts';
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
 * the cluster's, and without nodes nothing would run. A cordon of a further node is pending until another node is released.
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
    if (count < rule.after - EPSILON || after[id] !== undefined) continue;
    const reason = `${plural(Math.ceil(count - EPSILON), 'fault')} within ${rule.forMs / 60_000} min, the last: ${message}`;
    const until = now + rule.forMs;
    after = { ...after, [id]: { by: 'echelon', at: now, until, reason, pending: true } };
  }
  return inEffect(after, nodes);
}

/** With the pending cordons in effect that leave half of the nodes; the same object if there is none. */
function inEffect(cordons: Cordons, nodes: readonly ClusterNode[]): Cordons {
  let after = cordons;
  for (const { id } of nodes) {
    const isClosed = (node: ClusterNode) => node.draining !== undefined || isCordoned(after[node.id]);
    if (!after[id]?.pending || 2 * (nodes.filter(isClosed).length + 1) > nodes.length) continue;
    const { pending: _pending, ...cordon } = after[id];
    after = { ...after, [id]: cordon };
  }
  return after;
}

function isCordoned(cordon: Cordon | undefined): boolean {
  return cordon !== undefined && !cordon.pending;
}

/** Logs the cordons that are in effect only afterwards; returns these cordons. */
function logged(log: Log, cluster: string, { before, after }: Record<'before' | 'after', Cordons>): Cordons {
  for (const [node, cordon] of Object.entries(after))
    if (isCordoned(cordon) && !isCordoned(before[node]))
      log.warn({ cluster, node, reason: cordon.reason }, 'a node is cordoned');
  return after;
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
 * Cordons nodes whose GPUs have new faults, and those whose cordon was pending; to be called before the report is stored. They last until `uncordon`, because
 * no time repairs a GPU. A fault that is still reported after `uncordon` does not cordon the node again.
 */
export async function cordonBroken(
  { store, cordon, log }: { store: Pick<Store, 'clusters'>; cordon?: CordonRule | undefined; log: Log },
  cluster: Cluster,
  nodes: readonly ClusterNode[],
): Promise<void> {
  const broken = newlyBroken(cluster.nodes, nodes);
  const isPending = Object.values(cluster.cordons ?? {}).some(({ pending }) => pending);
  if (!cordon || cordon.after === 0 || (broken.size === 0 && !isPending)) return;
  const at = await store.clusters.now();
  await store.clusters.editCordons(cluster.name, (before) => {
    const added = Object.fromEntries(
      [...broken].map(([node, reason]) => [node, { by: 'echelon', at, reason, pending: true as const }]),
    );
    const after = inEffect(broken.size === 0 ? before : { ...added, ...before }, nodes);
    return logged(log, cluster.name, { before, after });
  });
}

/** Records that a fault of the cluster ended an attempt, and cordons nodes with repeated faults. Never rejects. */
export async function noteFault(
  { store, cordon, log }: { store: Pick<Store, 'clusters'>; cordon?: CordonRule | undefined; log: Log },
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
      return logged(log, cluster, { before, after });
    });
  } catch (err) {
    log.warn({ cluster, err }, 'cannot record a fault of the cluster');
  }
}
