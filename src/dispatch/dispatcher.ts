import { setTimeout as delay } from 'node:timers/promises';
import type { CommandQueues } from '../queue/commands.ts';
import type { Line, LineServer } from '../queue/line.ts';
import type { Looked } from '../queue/looking.ts';
import type { LaunchPlan } from '../rpc/ray-worker.ts';
import type { ResolvedSpec } from '../schemas/spec.ts';
import type { Cluster, Lease, Store, TakenOver, WakeTopic } from '../store/store.ts';
import { type AttemptRun, runAttempt } from './attempt.ts';
import { createClusterCommands, requestRepair } from './cluster-commands.ts';
import type { RayWorkerPackage } from './cluster-setup/package.ts';
import { createClusterRefresh } from './clusters.ts';
import { createCommands } from './commands.ts';
import type { Log } from './log.ts';
import { createLoop, type Loop } from './loop.ts';
import { createPlacement } from './placement.ts';
import { type Connect, createRayWorkers, type RayWorkers } from './ray-workers.ts';
import { failOverdue, reconcile } from './reconcile.ts';
import { createRetention } from './retention.ts';
import { createRulesRound } from './rules.ts';
import type { AttemptHooks, Entry } from './story.ts';
import { advanceSweeps } from './sweeps.ts';
import { createVerification, type Verifier } from './verification.ts';

/*
 * What always holds: an attempt is in `runs` exactly while this dispatcher believes that it holds its lease, and each
 * of them is renewed; what a dispatcher believes wrongly, the store and the ray-worker refuse.
 */

/** What a dispatcher is made of. */
export interface DispatcherDeps {
  store: Store;
  line: Line;
  verifier: Verifier;
  compile(spec: ResolvedSpec['spec']): LaunchPlan;
  log: Log;
  /** Commands on clusters, with the Python package that they bring; absent: others carry them out. */
  commands?: { queues: CommandQueues; pack: () => RayWorkerPackage };
  /** Names this process in records and logs. */
  id: string;
  /** A lease lives so long without renewal; it is renewed three times in it. */
  leaseMs?: number;
  /** Time between two looks at the line without a reason to look. */
  lookMs?: number;
  /** Time between two questions to each ray-worker. */
  refreshMs?: number;
  reconcileMs?: number;
  /** Time between two looks for what is to be archived or deleted. */
  retentionMs?: number;
  /** An experiment's stream stays in Redis for so long after its end. */
  archiveAfterMs?: number;
  /** Batches verified at a time. */
  verifications?: number;
  /** Waits between tries at a ray-worker or the store that does not answer. */
  retry?: { firstMs: number; longestMs: number };
  /** How long the next attempt waits after one that was lost; see `RETRY_WAIT`. */
  again?: { firstMs: number; longestMs: number };
  clock?: { now(): number };
  hooks?: AttemptHooks;
  connect?: Connect;
}

/** One dispatcher: places, launches, follows and verifies, beside any number of others. */
export interface Dispatcher {
  start(): Promise<void>;
  /**
   * Stops within about two seconds. With `handOver` its leases are let go, so that another dispatcher takes over at
   * once; without, they run out. Trainings are not touched.
   */
  stop(options: { handOver: boolean }): Promise<void>;
  stats(): DispatcherStats;
}

/** What a dispatcher has in hand. */
export interface DispatcherStats {
  attempts: number;
  verifying: number;
  /** Commands on clusters that are being carried out. */
  commands: number;
}

const JOBS_AT_ONCE = 64;
const TAKEOVERS_AT_ONCE = 64;
const RECONCILED_AT_MOST = 100_000;
const REPAIRED_AT_ONCE = 1_000;
/**
 * A job whose turn has not come is woken by the round that chooses it. BullMQ wakes it too after this time, which
 * must be long: each job of a long line that comes back by itself is work for nothing.
 */
const PARK_MS = 3_600_000;
/** A job is done once its launch is confirmed; one that takes longer goes on without its job. */
const JOB_MS = 5_000;
/** Events under way get so long to be recorded at a hand-over, and a launch so long to be confirmed. */
const HAND_OVER_MS = 1_500;
const NEW_MS = 500;
const REST_MS = 750;
const SILENT_ROUNDS = 5;

/** See {@link Dispatcher}. */
export function createDispatcher(deps: DispatcherDeps): Dispatcher {
  const { store, line, log, id, leaseMs = 15_000, refreshMs = 2_000, lookMs = 1_000 } = deps;
  const now = () => (deps.clock ?? Date).now();
  const rayWorkers = createRayWorkers({ store, ...(deps.connect && { connect: deps.connect }) });
  const held = createHeld(deps, {
    leaseMs,
    rayWorkers,
    // Ray gives resources back a little after a driver's end: what it has now is asked for, then chosen from.
    onEnd() {
      placement.poke();
      refresh.poke();
    },
  });
  const placement = createPlacement({
    ...{ store, line, log, now, leaseMs, dispatcher: id, everyMs: lookMs },
    staleMs: refreshMs * SILENT_ROUNDS + 5_000,
    onClaimed: (lease, { cluster }) => held.begin({ ...FRESH, lease, cluster }),
  });
  const onRefresh = placement.poke;
  const onSilent = (cluster: Cluster) => requestRepair(store, cluster);
  const refresh = createClusterRefresh({
    store,
    rayWorkers,
    everyMs: refreshMs,
    now,
    log,
    onRefresh,
    onSilent,
  });
  const verification = createVerification({
    ...{ store, verifier: deps.verifier, log, everyMs: lookMs },
    concurrency: deps.verifications ?? 2,
    leaseMs: leaseMs * 4,
  });
  const reconciler = createLoop({
    ...{ name: 'reconciler', everyMs: deps.reconcileMs ?? 5_000, log },
    async run() {
      await failOverdue({ store, log });
      await reconcile({ store, line, limit: RECONCILED_AT_MOST, checks: REPAIRED_AT_ONCE, log });
    },
  });
  let stopping = false;
  const sweeps = createLoop({
    ...{ name: 'sweeps', everyMs: deps.reconcileMs ?? 5_000, log },
    run: () => advanceSweeps({ store, line, log, stopped: () => stopping }),
  });
  const rules = createLoop({
    ...{ name: 'rules', everyMs: lookMs, log },
    run: createRulesRound({ store, log, leaseMs, stopped: () => stopping }),
  });
  const commands =
    deps.commands &&
    createCommands({
      ...{ store, queues: deps.commands.queues, dispatcher: id, leaseMs, log },
      run: createClusterCommands({
        ...{ store, pack: deps.commands.pack, now },
        preflight: { rayWorkerOf: rayWorkers.of, compile: deps.compile },
      }),
      everyMs: deps.reconcileMs ?? 5_000,
    });
  const retention = createRetention({
    ...{ store, dispatcher: id, now, log, rayWorkerOf: rayWorkers.of },
    everyMs: deps.retentionMs ?? 30_000,
    archiveAfterMs: deps.archiveAfterMs ?? 60_000,
  });
  const loops = [
    ...(commands ? [commands.loop] : []),
    refresh,
    placement,
    held.renewal,
    held.takeover,
    verification,
    reconciler,
    sweeps,
    rules,
    retention,
  ];
  const pokes = {
    line: [placement.poke, held.takeover.poke], // also sent when leases are let go
    cancel: [held.renewal.poke],
    batch: [verification.poke],
    command: [() => commands?.loop.poke()],
    sweep: [sweeps.poke],
  } satisfies Record<WakeTopic, (() => void)[]>;
  let server: LineServer | undefined;
  let unsubscribe: (() => Promise<void>) | undefined;

  async function handle(experiment: string): Promise<Looked> {
    const placed = await placement.request(experiment);
    if (placed === 'wait') return { done: false, parkMs: PARK_MS };
    if (placed === 'claimed') await within(JOB_MS, held.runs.get(experiment)?.placed);
    return { done: true };
  }

  return {
    async start() {
      unsubscribe = await store.onWake((topic) => {
        // A newer version may know topics that this one does not.
        for (const poke of pokes[topic] ?? []) poke();
      });
      for (const loop of loops) loop.start();
      server = line.serve(handle, { concurrency: JOBS_AT_ONCE });
    },
    async stop({ handOver }) {
      // First nothing new: a claim under way still brings an attempt, which is then handed over like the others.
      held.close();
      stopping = true;
      await within(NEW_MS, Promise.all([placement.stop(), held.takeover.stop(), commands?.loop.stop()]));
      await held.letGo(handOver);
      const rest = [
        reconciler.stop(),
        sweeps.stop(),
        rules.stop(),
        retention.stop(),
        refresh.stop(),
        verification.stop(),
        server?.close(NEW_MS),
        commands?.stop(NEW_MS),
      ];
      await within(REST_MS, Promise.all(rest));
      await unsubscribe?.();
      rayWorkers.close();
    },
    stats: () => ({
      attempts: held.runs.size,
      verifying: verification.active(),
      commands: commands?.active() ?? 0,
    }),
  };
}

const FRESH = {
  state: 'launching',
  confirmed: false,
  lastSequence: 0,
  takenOver: false,
  crashes: [],
} as const;

/** The attempts whose leases are ours, with the loops that keep them and that take over those of others. */
interface Held {
  runs: ReadonlyMap<string, AttemptRun>;
  begin(entry: Entry): void;
  renewal: Loop;
  takeover: Loop;
  /** From now on attempts are only left, none is taken. */
  close(): void;
  /** Leaves all attempts; with `handOver` at an event's boundary, and their leases are let go. */
  letGo(handOver: boolean): Promise<void>;
}

function createHeld(
  deps: DispatcherDeps,
  { leaseMs, rayWorkers, onEnd }: { leaseMs: number; rayWorkers: RayWorkers; onEnd: () => void },
): Held {
  const { store, log, id, compile, hooks = {}, retry = { firstMs: 100, longestMs: 3_000 } } = deps;
  const runs = new Map<string, AttemptRun>();
  let closed = false;

  function begin(entry: Entry): void {
    const { experiment } = entry.lease;
    // Our own lease may have run out and come back to us: the story under the old token is over.
    runs.get(experiment)?.drop();
    const run = runAttempt(
      { store, rayWorkerOf: rayWorkers.of, compile, log, hooks, retry, again: deps.again },
      entry,
    );
    runs.set(experiment, run);
    if (closed) run.handOver();
    void run.done.then((outcome) => {
      if (closed && outcome === null) return; // kept until its lease is let go
      if (runs.get(experiment) === run) runs.delete(experiment);
      if (outcome !== null) onEnd();
    });
  }

  async function takeOver(): Promise<void> {
    for (let more = true; more && !closed; ) {
      const taken = await store.takeOver({ dispatcher: id, leaseMs, limit: TAKEOVERS_AT_ONCE });
      for (const attempt of taken) {
        log.info({ ...describe(attempt) }, 'took over an attempt');
        begin(toEntry(attempt));
      }
      more = taken.length === TAKEOVERS_AT_ONCE;
    }
  }

  const everyMs = leaseMs / 3;
  const renew = () => renewAll({ store, runs, leaseMs });
  const renewal = createLoop({ name: 'lease renewal', everyMs, log, run: renew });
  return {
    runs,
    begin,
    renewal,
    takeover: createLoop({ name: 'takeover', everyMs, log, run: takeOver }),
    close() {
      closed = true;
    },
    async letGo(handOver) {
      const leaving = [...runs.values()];
      if (handOver) {
        for (const run of leaving) run.handOver();
        await within(HAND_OVER_MS, Promise.all(leaving.map((run) => run.done)));
      }
      const leases = [...runs.values()].map((run) => run.lease);
      for (const run of runs.values()) run.drop();
      // Renewed until now: a lease that is let go is let go by its holder.
      await within(NEW_MS, renewal.stop());
      if (!handOver || leases.length === 0) return;
      await store.release(leases).catch((error) => {
        log.warn({ err: error }, 'the leases could not be let go; they run out by themselves');
      });
    },
  };
}

/** Renews all leases in one call, and tells each attempt what came of it. */
async function renewAll({
  store,
  runs,
  leaseMs,
}: {
  store: Pick<Store, 'renew'>;
  runs: ReadonlyMap<string, AttemptRun>;
  leaseMs: number;
}): Promise<void> {
  if (runs.size === 0) return;
  const renewals = await store.renew(
    [...runs.values()].map((run) => run.lease),
    leaseMs,
  );
  for (const { lease, status, state, limitReached } of renewals) {
    const run = runs.get(lease.experiment);
    // Another story may have begun for the same experiment in the meantime.
    if (run?.lease.token !== lease.token) continue;
    if (status === 'lost') run.drop();
    else if (state === 'cancelling') run.cancel();
    else if (limitReached !== null) run.limit(limitReached);
  }
}

function toEntry(taken: TakenOver): Entry {
  return { ...taken, takenOver: true };
}

function describe({ lease, state, confirmed, lastSequence }: TakenOver): object {
  const { experiment, attempt }: Lease = lease;
  return { experiment, attempt, state, confirmed, lastSequence };
}

/** Waits for `work`, but no longer than `ms`; not at all where `wanted` is false. */
async function within(ms: number, work: Promise<unknown> | undefined, wanted = true): Promise<void> {
  if (work === undefined || !wanted) return;
  const over = new AbortController();
  await Promise.race([work, delay(ms, undefined, { signal: over.signal }).catch(() => {})]);
  over.abort();
}
