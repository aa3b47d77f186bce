/** Why a node takes no new experiment: who decided it, when (ms since 1970), and why. */
export interface Cordon {
  by: string;
  at: number;
  reason: string | null;
  /** The experiments on it leave it at their next checkpoints. */
  drain?: true;
  /** When it ends by itself (ms since 1970). Absent: only by `uncordon`. */
  until?: number;
  /** It has no effect until another node is released: too few nodes would accept experiments. */
  pending?: true;
}

/** The state of a node as every surface names it. A drained node is alive until its deadline, and takes no new experiment. */
export type NodeState = 'ready' | 'draining' | 'cordoned';

/** What decides a node's state. */
interface NodeFacts {
  draining?: { remainingMs: number | null } | undefined;
  cordon?: Cordon | undefined;
}

/** The state of a node, and the reason in words; empty for a ready one. A drain, which ends the node, comes first. */
export function nodeState({ draining, cordon }: NodeFacts): { state: NodeState; reason: string } {
  if (draining !== undefined) {
    const { remainingMs } = draining;
    const until = remainingMs === null ? 'without a deadline' : `and terminates it ${inTime(remainingMs)}`;
    return { state: 'draining', reason: `Ray drains it ${until}` };
  }
  if (cordon === undefined || cordon.pending) return { state: 'ready', reason: '' };
  const { by, reason, drain, until } = cordon;
  const [state, word] = drain ? (['draining', 'drained'] as const) : (['cordoned', 'cordoned'] as const);
  const end = until === undefined ? '' : ` until ${new Date(until).toISOString().slice(0, 16)}Z`;
  return { state, reason: `${word} by ${by}${end}${reason === null ? '' : `: ${reason}`}` };
}

/** A coarse time, so that the text of a wait reason rarely changes. */
function inTime(ms: number): string {
  return ms < 60_000 ? 'within a minute' : `in about ${Math.round(ms / 60_000)} min`;
}

/** Equal nodes, by the GPUs and CPUs of each, and labels that they must have in Ray. */
export interface NodeBundle {
  gpus: number;
  cpus: number;
  count: number;
  labels?: Record<string, string>;
}

/** GPUs and CPUs of a node that one Ray job uses, by Ray's own tables. */
export interface NodeUse {
  /** The experiment whose attempt the job is; null: another user's job. */
  experiment: string | null;
  name: string;
  /** Start of the job in ms since 1970, by the cluster's clock; null: not known. */
  since: number | null;
  gpus: number;
  cpus: number;
}
