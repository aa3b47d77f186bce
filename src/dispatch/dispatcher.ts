import type { LaunchPlan } from '../core/launch-plan.ts';
import { nodeState } from '../core/node-states.ts';
import { settledWithin } from '../core/settled-within.ts';
import type { ResolvedSpec } from '../engines/registry.ts';
import type { ExperimentsQueue } from '../queue/experiments-queue.ts';
import type { QueueServer } from '../queue/serve.ts';
import type { Cluster, ClusterNode } from '../store/clusters/types.ts';
import type { WakeTopic } from '../store/redis/wake-hub.ts';
import type { Store } from '../store/store.ts';
import { type AttemptHooks, createLaunches, type DrainedNode } from './attempt/context.ts';
import { createLeasedAttempts } from './attempt/leased-attempts.ts';
import { compactSeries } from './background/archiving.ts';
import { recordComparisons } from './background/comparisons.ts';
import { createRetentionLoops } from './background/retention.ts';
import { createRulesRound } from './background/rules.ts';
import { createSilentRuns } from './background/silent-runs.ts';
import { advanceSweeps } from './background/sweeps.ts';
import { type BatchVerifier, createVerification } from './background/verification.ts';
import { createClusterCommands, requestRepair } from './clusters/cluster-commands.ts';
import { createClusterRefresh } from './clusters/clusters.ts';
import { createCommandRunner } from './clusters/command-runner.ts';
import type { CordonRule } from './clusters/faulty-nodes.ts';
import { createPreflight } from './clusters/preflight.ts';
import { type Connect, createRayWorkers, type RayWorkers } from './clusters/ray-workers.ts';
import type { RayWorkerPackage } from './clusters/setup/package.ts';
import { createSlurm, type Slurm } from './clusters/slurm/commands.ts';
import { createSlurmRounds } from './clusters/slurm/rounds.ts';
import type { Log } from './log.ts';
import { createLoop } from './loop.ts';
import { createNotifications, type NotificationDeps } from './notifications/notifications.ts';
import { createReceive } from './placement/receive.ts';
import { createReconciler, failOverdue } from './placement/reconcile.ts';
import { createSchedulingRounds } from './placement/scheduling-round.ts';

/** The periods and patience of a dispatcher. An installation sets `leaseMs`; tests set any. */
export interface DispatcherTimes {
  /** Time to live of a lease, which is renewed three times as often. */
  leaseMs?: number;
  /** Time between two scheduling rounds without a wake-up. */
  roundMs?: number;
  /** Time between two refreshes of each cluster from its ray-worker. */
  refreshMs?: number;
  reconcileMs?: number;
  /** How long it does not reach a cluster that another dispatcher reaches, before it gives up the attempts there. */
  cutOffMs?: number;
  /** Time between two searches for attempts on a cluster that the store does not know. */
  checkMs?: number;
  /** The job of an experiment that was allocated so long ago and is not acquired is released again. */
  releaseMs?: number;
  /** Time between two rounds of archiving and retention. */
  retentionMs?: number;
  /** How long an experiment's stream stays in Redis after its end. */
  archiveAfterMs?: number;
  /** How long missing or damaged bytes of a batch are read again before its rows are unverifiable. */
  doubtMs?: number;
  /** Waits between retries if a ray-worker or the store does not answer. */
  retry?: { firstMs: number; longestMs: number };
  /** How long the next attempt waits after a lost attempt; see `RETRY_WAIT`. */
  again?: { firstMs: number; longestMs: number };
}

/** The services and settings of a dispatcher. */
export interface DispatcherDeps {
  store: Store;
  queue: ExperimentsQueue;
  verifier: BatchVerifier;
  compile(spec: ResolvedSpec['spec'], clusterEnv?: Readonly<Record<string, string>>): LaunchPlan;
  log: Log;
  /** The Python package that commands install on clusters. If omitted, this dispatcher runs no commands. */
  pack?: () => RayWorkerPackage;
  /** Names this process in records and logs. */
  id: string;
  /** Id of the installation, which owns its ray-workers. If omitted, they are not told. */
  installation?: string;
  /** Default of each: {@link TIMES}, or that of the part it belongs to. */
  times?: Partial<DispatcherTimes> | undefined;
  /** Maximum number of batches that are verified at the same time. */
  verifications?: number;
  /** See {@link CordonRule}. Default: nodes are only cordoned by operators. */
  cordon?: CordonRule;
  /** How long a preempted experiment has to stop. Default: 5 minutes. */
  preemptWithinMs?: number;
  hooks?: AttemptHooks;
  /** If omitted, this dispatcher sends no notifications. */
  notifications?: NotificationDeps;
  connect?: Connect;
  /** Slurm's commands. Default: those of this machine, or of a cluster's login node. */
  slurm?: Slurm;
}

/** A dispatcher: it schedules, launches and follows experiments and verifies batches. Any number of them may run. */
export interface Dispatcher {
  start(): Promise<void>;
  /**
   * Stops within about two seconds. With `handOver` it releases its leases, so that another dispatcher takes over at once;
   * otherwise they expire. Trainings continue.
   */
  stop(options: { handOver: boolean }): Promise<void>;
  stats(): DispatcherStats;
}

/** The work of a dispatcher at this moment. */
export interface DispatcherStats {
  attempts: number;
  verifying: number;
  /** Commands on clusters that run. */
  commands: number;
  /** Clusters that this dispatcher does not reach, and another one does. */
  cutOff: number;
}

const TIMES = {
  leaseMs: 15_000,
  roundMs: 1_000,
  refreshMs: 2_000,
  reconcileMs: 5_000,
  retentionMs: 30_000,
  archiveAfterMs: 60_000,
  retry: { firstMs: 100, longestMs: 3_000 },
} satisfies DispatcherTimes;
const JOBS_AT_ONCE = 256;
/** Queued experiments whose jobs are checked at a time. */
const RECONCILED_AT_ONCE = 2_000;
const NEW_MS = 500;
/** How long a stop waits for active jobs, until their attempts are handed over. */
const JOBS_MS = 2_500;
const REST_MS = 750;

const timesOf = ({ times }: DispatcherDeps) => ({ ...TIMES, ...times });

/** See {@link Dispatcher}. */
export function createDispatcher(deps: DispatcherDeps): Dispatcher {
  const { store, queue, id } = deps;
  const { leaseMs, retry } = timesOf(deps);
  let stopping = false;
  const parts = createParts(deps);
  const { rayWorkers, leased, scheduling, refresh, verification, commands } = parts;
  const isStopping = () => stopping;
  const rounds = createRounds(deps, { rayWorkerOf: rayWorkers.of, stopped: isStopping });
  const { cutOff } = refresh;
  const receive = createReceive({
    ...{ store, leased, dispatcher: id, leaseMs, retry, cutOff },
    stopping: isStopping,
  });
  const sources = [scheduling, leased.takeover, ...(commands ? [commands.loop] : [])];
  const rest = [refresh, verification, ...Object.values(rounds)];
  const wakes = wakesOf(parts, rounds);
  let server: QueueServer | undefined;
  let unsubscribe: (() => Promise<void>) | undefined;

  return {
    async start() {
      // A newer version may send topics that this version does not know.
      unsubscribe = await store.onWake((topic) => wakes[topic]?.());
      for (const loop of [...sources, leased.renewal, ...rest]) loop.start();
      server = queue.serve(receive, { concurrency: JOBS_AT_ONCE, lockMs: leaseMs });
    },
    async stop({ handOver }) {
      // First stop new work. A lease that is being acquired still begins an attempt, which is handed over as well.
      leased.close();
      stopping = true;
      const served = server?.close(JOBS_MS);
      await settledWithin(NEW_MS, Promise.all(sources.map((loop) => loop.stop())));
      await leased.leaveAll(handOver);
      const stopped = rest.map((loop) => loop.stop());
      await settledWithin(REST_MS, Promise.all([...stopped, served, commands?.stop(NEW_MS)]));
      await unsubscribe?.();
      rayWorkers.close();
    },
    stats: () => ({
      attempts: leased.runs.size,
      verifying: verification.active(),
      commands: commands?.active() ?? 0,
      cutOff: refresh.cutOff().size,
    }),
  };
}

/** The loop that each wake-up pokes. */
function wakesOf(
  { scheduling, leased, verification, commands }: ReturnType<typeof createParts>,
  { sweeps }: ReturnType<typeof createRounds>,
): Record<WakeTopic, () => void> {
  return {
    queue: scheduling.poke,
    lease: leased.takeover.poke,
    cancel: leased.renewal.poke,
    batch: verification.poke,
    command: () => commands?.loop.poke(),
    sweep: sweeps.poke,
  };
}

/** The parts that begin work and have active work. */
function createParts(deps: DispatcherDeps) {
  const { store, queue, log, id, cordon } = deps;
  const { leaseMs, refreshMs, roundMs, retry, cutOffMs, checkMs, doubtMs } = timesOf(deps);
  const elapsed = () => performance.now();
  const rayWorkers = createRayWorkers({ store, connect: deps.connect, installation: deps.installation });
  const leased = createLeasedAttempts({
    store,
    dispatcher: id,
    leaseMs,
    log,
    cutOff: () => refresh.cutOff(),
    attempt: attemptServices(deps, rayWorkers),
    onEnd(experiment, outcome) {
      // Ray releases resources shortly after a driver's end, and the next scheduling round needs the new figures.
      refresh.poke();
      if (outcome !== 'queued') return;
      queue.enqueue([experiment]).catch((err: unknown) => {
        log.warn({ err, experiment }, 'no job yet for the next attempt; the reconciler adds it');
      });
    },
  });
  const scheduling = createSchedulingRounds({ ...deps, elapsed, everyMs: roundMs });
  const refresh = createClusterRefresh({
    ...{ store, rayWorkers, elapsed, log, cordon },
    everyMs: refreshMs,
    ...{ cutOffMs, checkMs },
    onRefresh({ name, cordons }, nodes) {
      const drained = drainedNodes(nodes, cordons);
      for (const run of leased.runs.values()) if (run.cluster === name) run.drain(drained);
      scheduling.poke();
    },
    onSilent: (cluster: Cluster) => requestRepair(store, cluster),
  });
  const verification = createVerification({
    ...deps,
    holder: id,
    doubtMs,
    everyMs: roundMs,
    retry,
    concurrency: deps.verifications ?? 2,
    leaseMs: leaseMs * 4,
  });
  const commands = createCommands(deps, rayWorkers);
  return { rayWorkers, leased, scheduling, refresh, verification, commands };
}

function attemptServices(deps: DispatcherDeps, rayWorkers: RayWorkers) {
  const { compile, hooks = {}, cordon, slurm = createSlurm() } = deps;
  const { retry, again } = timesOf(deps);
  return {
    ...{ rayWorkerOf: rayWorkers.of, launches: createLaunches() },
    ...{ compile, hooks, retry, again, cordon, slurm },
  };
}

/** The nodes that experiments leave: Ray or an operator drains them. */
function drainedNodes(nodes: readonly ClusterNode[], cordons: Cluster['cordons'] = {}): DrainedNode[] {
  return nodes.flatMap(({ id, draining }) => {
    const { state, reason } = nodeState({ draining, cordon: cordons[id] });
    return state === 'draining' ? [{ node: id, remainingMs: draining?.remainingMs ?? null, reason }] : [];
  });
}

function createCommands(deps: DispatcherDeps, rayWorkers: RayWorkers) {
  const { store, log, id, compile, pack, installation } = deps;
  if (pack === undefined) return undefined;
  const envOf = async (name: string) => (await store.clusters.list([name]))[0]?.env ?? {};
  const preflight = createPreflight({ rayWorkerOf: rayWorkers.of, compile, envOf });
  const { leaseMs, reconcileMs } = timesOf(deps);
  return createCommandRunner({
    store,
    dispatcher: id,
    leaseMs,
    log,
    run: createClusterCommands({ store, pack, installation, preflight, slurm: deps.slurm }),
    everyMs: reconcileMs,
  });
}

/** The periodic work that does not depend on the attempts of this dispatcher. */
function createRounds(
  deps: DispatcherDeps,
  { rayWorkerOf, stopped }: { rayWorkerOf: RayWorkers['of']; stopped: () => boolean },
) {
  const { store, queue, log, id } = deps;
  const { leaseMs, roundMs, reconcileMs, releaseMs, retentionMs, archiveAfterMs } = timesOf(deps);
  const step = RECONCILED_AT_ONCE;
  const reconcile = createReconciler({
    store,
    queue,
    step,
    log,
    ...(releaseMs !== undefined && { releaseMs }),
  });
  const loopOf = (name: string, everyMs: number, run: () => Promise<void>) =>
    createLoop({ name, everyMs, log, run });
  return {
    reconciler: loopOf('reconciler', reconcileMs, async () => {
      await failOverdue({ store, queue, log });
      await reconcile();
    }),
    sweeps: loopOf('sweeps', reconcileMs, () => advanceSweeps({ store, queue, log, stopped })),
    comparisons: loopOf('comparisons', reconcileMs, () => recordComparisons({ store, log, stopped })),
    rules: loopOf('rules', roundMs, createRulesRound({ store, queue, log, leaseMs, stopped })),
    compaction: loopOf('compacting metric series', roundMs, () => compactSeries({ store, log, stopped })),
    ...(deps.notifications && {
      notifications: createNotifications({ ...deps, ...deps.notifications, everyMs: roundMs }),
    }),
    ...(deps.installation !== undefined && {
      slurm: createSlurmRounds({
        ...{ store, log, dispatcher: id, installation: deps.installation },
        slurm: deps.slurm ?? createSlurm(),
      }),
    }),
    silentRuns: loopOf('silent runs', reconcileMs, createSilentRuns({ store, log })),
    retention: createRetentionLoops({
      store,
      dispatcher: id,
      log,
      rayWorkerOf,
      everyMs: retentionMs,
      archiveAfterMs,
    }),
  };
}
