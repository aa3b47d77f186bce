import type { AllocatedNode, LaunchPlan } from '../../core/launch-plan.ts';
import type { RetryWaits } from '../../core/retry.ts';
import { QUARANTINE_AFTER, type State } from '../../core/states.ts';
import type { ResolvedSpec } from '../../engines/registry.ts';
import type { RayWorkerClient } from '../../rpc/ray-worker.ts';
import type { Crash, Lease, Renewal } from '../../store/attempts/types.ts';
import type { Store } from '../../store/store.ts';
import type { CordonRule } from '../clusters/faulty-nodes.ts';
import type { Slurm } from '../clusters/slurm/commands.ts';
import type { Log } from '../log.ts';

/** Called by the lifecycle for tests. */
export interface AttemptHooks {
  beforeLaunch?(lease: Lease): Promise<void>;
}

/** The services that the lifecycle of every attempt uses. */
export interface AttemptServices {
  store: Store;
  rayWorkerOf(cluster: string): Promise<RayWorkerClient>;
  launches: Launches;
  compile(spec: ResolvedSpec['spec'], clusterEnv?: Readonly<Record<string, string>>): LaunchPlan;
  log: Log;
  hooks: AttemptHooks;
  retry: RetryWaits;
  /** How long the next attempt waits after a lost attempt. Default: `RETRY_WAIT`. */
  again?: RetryWaits | undefined;
  /** Default: nodes are only cordoned by operators. */
  cordon?: CordonRule | undefined;
  slurm: Pick<Slurm, 'list'>;
}

/** The state in which a dispatcher begins with an attempt: it was just claimed, or taken over. */
export interface AttemptEntry {
  lease: Lease;
  cluster: string;
  state: State;
  /** The launch is recorded: the attempt is only followed. */
  confirmed: boolean;
  lastSequence: number;
  /** The lease was taken over from a dispatcher that let it expire. */
  takenOver: boolean;
  /** Consecutive crashes of dispatchers that are charged to the experiment. */
  crashes: readonly Crash[];
}

/** The state that the steps of one attempt's lifecycle share. */
export interface AttemptContext extends AttemptEntry {
  readonly deps: AttemptServices;
  readonly rayWorker: () => Promise<RayWorkerClient>;
  /** Aborts when another dispatcher has the lease: nothing may be written or called any more. */
  readonly leaseLost: AbortController;
  readonly handedOver: AbortController;
  /** Aborts when the lease is lost or the attempt is handed over. */
  readonly yielded: AbortSignal;
  readonly cancelling: AbortController;
  /** Aborts when the driver must be stopped: for a cancel, a limit or a quarantine. */
  readonly stopping: AbortController;
  /** Why the driver must be stopped, if not for a cancel. */
  limitReached: string | null;
  /** A node of the attempt that is drained: the driver is stopped at its next checkpoint. See {@link drainAttempt}. */
  drained: { node: string; reason: string } | null;
  /** It makes room for another experiment: likewise. See {@link preemptAttempt}. */
  preempted: Preemption | null;
  /** Its nodes, once its terms are read. */
  nodes: readonly AllocatedNode[];
  /** The grace period of its spec, which is compiled for it; 0 until its terms are read. */
  gracePeriodMs: () => number;
  readonly quarantine: Quarantine | null;
  /** This dispatcher has survived the launch or takeover; see {@link settle}. */
  settled: boolean;
}

/** The context of an attempt whose lease this dispatcher has just got. */
export function createContext(deps: AttemptServices, entry: AttemptEntry): AttemptContext {
  const [leaseLost, handedOver] = [new AbortController(), new AbortController()];
  const quarantine = quarantineOf(entry.crashes);
  const context: AttemptContext = {
    ...entry,
    deps,
    leaseLost,
    handedOver,
    quarantine,
    rayWorker: () => deps.rayWorkerOf(entry.cluster),
    yielded: AbortSignal.any([leaseLost.signal, handedOver.signal]),
    cancelling: new AbortController(),
    stopping: new AbortController(),
    limitReached: null,
    drained: null,
    preempted: null,
    nodes: [],
    gracePeriodMs: () => 0,
    settled: quarantine?.unreadable === true, // its events are not read, so the takeover does no harm
  };
  // It may run all the same: it is stopped, and its events are recorded.
  if (quarantine && !entry.confirmed) stopForLimit(context, quarantine.reason);
  if (entry.state === 'cancelling') cancelAttempt(context);
  return context;
}

/** Asks for the end of the driver, because the experiment is being cancelled. */
export function cancelAttempt(context: AttemptContext): void {
  context.cancelling.abort();
  context.stopping.abort();
}

/** Asks for the end of the driver; the experiment then fails for `reason`. */
export function stopForLimit(context: AttemptContext, reason: string): void {
  context.limitReached = reason;
  context.stopping.abort();
}

/** A node that Ray drains. `remainingMs`: until it is terminated; null: no deadline. */
export interface DrainedNode {
  node: string;
  remainingMs: number | null;
  reason: string;
}

/** Deadlines are compared every few seconds, and a stop takes its grace period: it begins this much earlier. */
const LEAVE_MARGIN_MS = 15_000;

/**
 * Lets the attempt leave drained nodes: its driver is stopped at the next checkpoint, or in time before the deadline. Its
 * experiment then continues on other nodes, and the attempt is not counted. To be called with each report of the nodes.
 */
export function drainAttempt(context: AttemptContext, drained: readonly DrainedNode[]): void {
  if (context.stopping.signal.aborted) return;
  const mine = drained.filter(({ node }) => context.nodes.some(({ id }) => id === node));
  const msOf = ({ remainingMs }: DrainedNode) => remainingMs ?? Number.POSITIVE_INFINITY;
  const first = mine.toSorted((a, b) => msOf(a) - msOf(b))[0];
  context.drained = first ?? null;
  if (first !== undefined) leaveIfDue(context, msOf(first));
}

/** Why an attempt makes room for another experiment, and when it must have stopped. */
export type Preemption = NonNullable<Renewal['preemption']>;

/** Lets the attempt make room as {@link drainAttempt} does; null: it may stay. To be called with each renewal. */
export function preemptAttempt(context: AttemptContext, preemption: Preemption | null): void {
  if (context.stopping.signal.aborted) return;
  context.preempted = preemption;
  if (preemption !== null) leaveIfDue(context, preemption.remainingMs);
}

function leaveIfDue(context: AttemptContext, remainingMs: number): void {
  if (remainingMs <= context.gracePeriodMs() + LEAVE_MARGIN_MS) context.stopping.abort();
}

/** Stops the driver of an attempt that waited for a checkpoint to leave its nodes. */
export function noteCheckpoint(context: AttemptContext): void {
  if (context.drained !== null || context.preempted !== null) context.stopping.abort();
}

/**
 * Records that this dispatcher has survived the launch or takeover: a later crash is not charged to the attempt. To be
 * called after each answer about the attempt, good or bad. A call that fails is repeated by the next call.
 */
export async function settle(context: AttemptContext): Promise<void> {
  if (context.settled || context.leaseLost.signal.aborted) return;
  context.settled = true;
  const { lease, deps } = context;
  const { experiment, attempt } = lease;
  await deps.store.attempts.settle(lease).catch((error: unknown) => {
    context.settled = false;
    deps.log.warn({ experiment, attempt, err: error }, 'cannot record yet that the attempt is settled');
  });
}

/** Why an experiment is in quarantine. */
interface Quarantine {
  reason: string;
  /** Taking the attempt over ended dispatchers: its events must not be read any more. */
  unreadable: boolean;
}

/** The quarantine that follows from `crashes`; null: none. */
export function quarantineOf(crashes: readonly Crash[]): Quarantine | null {
  const launches = crashes.filter(({ during }) => during === 'launch');
  const takeovers = crashes.filter(({ during }) => during === 'takeover');
  const unreadable = takeovers.length >= QUARANTINE_AFTER;
  if (!unreadable && launches.length < QUARANTINE_AFTER) return null;
  const charged = unreadable ? takeovers : launches;
  const evidence = charged.map(({ at, attempt, dispatcher, during }) => {
    const what = during === 'launch' ? 'launched' : 'took over';
    return `dispatcher ${dispatcher} was lost as it ${what} attempt ${attempt} (${new Date(at).toISOString()})`;
  });
  const unread = unreadable ? '; its events since then were not read' : '';
  return {
    reason: `quarantined after ${charged.length} crashes: ${evidence.join('; ')}${unread}`,
    unreadable,
  };
}

/** One launch that is under way. */
export interface LaunchUnderWay {
  /** Whether no other launch on the cluster was under way at any time since this one began. */
  isAlone(): boolean;
  end(): void;
}

/**
 * The launches of this dispatcher that are under way, by cluster. A ray-worker that is lost during several launches may
 * be lost because of any of them: only a launch that was alone can be charged.
 */
interface Launches {
  begin(cluster: string): LaunchUnderWay;
}

/** See {@link Launches}. */
export function createLaunches(): Launches {
  const underWay = new Map<string, Set<{ alone: boolean }>>();
  return {
    begin(cluster) {
      const others = underWay.get(cluster) ?? new Set();
      underWay.set(cluster, others);
      const mark = { alone: others.size === 0 };
      for (const other of others) other.alone = false;
      others.add(mark);
      return {
        isAlone: () => mark.alone,
        end: () => void others.delete(mark),
      };
    },
  };
}
