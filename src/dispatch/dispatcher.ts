import type { Line, LineServer } from '../queue/line.ts';
import { type Looked, within } from '../queue/looking.ts';
import type { LaunchPlan } from '../rpc/ray-worker.ts';
import type { ResolvedSpec } from '../schemas/spec.ts';
import type { Cluster } from '../store/clusters/contract.ts';
import type { WakeTopic } from '../store/redis/wake-hub.ts';
import type { Store } from '../store/store.ts';
import { createHeld } from './attempt/held.ts';
import { createLaunches } from './attempt/launches.ts';
import type { AttemptHooks } from './attempt/story.ts';
import { createRetention } from './background/retention.ts';
import { createRulesRound } from './background/rules.ts';
import { advanceSweeps } from './background/sweeps.ts';
import { createVerification, type Verifier } from './background/verification.ts';
import { createClusterCommands, requestRepair } from './clusters/cluster-commands.ts';
import { createClusterRefresh } from './clusters/clusters.ts';
import { createCommands } from './clusters/commands.ts';
import { type Connect, createRayWorkers, type RayWorkers } from './clusters/ray-workers.ts';
import type { RayWorkerPackage } from './clusters/setup/package.ts';
import type { Log } from './log.ts';
import { createLoop } from './loop.ts';
import { createPlacement } from './placement/placement.ts';
import { createReconciler, failOverdue } from './placement/reconcile.ts';

/** What a dispatcher is made of. */
export interface DispatcherDeps {
  store: Store;
  line: Line;
  verifier: Verifier;
  compile(spec: ResolvedSpec['spec']): LaunchPlan;
  log: Log;
  /** The Python package that commands on clusters bring. Omitted: this dispatcher carries no commands out. */
  pack?: () => RayWorkerPackage;
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

const LEASE_MS = 15_000;
const LOOK_MS = 1_000;
const RECONCILE_MS = 5_000;
const JOBS_AT_ONCE = 64;
/** Waiting experiments, and jobs, that are compared at a time. */
const RECONCILED_AT_ONCE = 2_000;
/**
 * A job whose turn has not come is not waited for: the round that starts its experiment takes it out. BullMQ wakes it after
 * this time, which must be long: each job of a long line that comes back by itself is work for nothing.
 */
const PARK_MS = 3_600_000;
/** A job is done once its launch is confirmed; one that takes longer goes on without its job. */
const JOB_MS = 5_000;
const NEW_MS = 500;
const REST_MS = 750;

/** An attempt that was just claimed. */
const FRESH = {
  state: 'launching',
  confirmed: false,
  lastSequence: 0,
  takenOver: false,
  crashes: [],
} as const;

/** See {@link Dispatcher}. */
export function createDispatcher(deps: DispatcherDeps): Dispatcher {
  const { store, line } = deps;
  let stopping = false;
  const { rayWorkers, held, placement, refresh, verification, commands } = createParts(deps);
  const rounds = createRounds(deps, { rayWorkerOf: rayWorkers.of, stopped: () => stopping });
  const loops = [
    ...(commands ? [commands.loop] : []),
    ...[refresh, placement, held.renewal, held.takeover, verification],
    ...Object.values(rounds),
  ];
  const pokes = {
    line: [placement.poke],
    lease: [held.takeover.poke],
    cancel: [held.renewal.poke],
    batch: [verification.poke],
    command: [() => commands?.loop.poke()],
    sweep: [rounds.sweeps.poke],
  } satisfies Record<WakeTopic, (() => void)[]>;
  let server: LineServer | undefined;
  let unsubscribe: (() => Promise<void>) | undefined;

  async function handle(experiment: string): Promise<Looked> {
    const placed = held.runs.has(experiment) ? 'claimed' : await placement.request(experiment);
    if (placed === 'wait') return { done: false, parkMs: PARK_MS };
    const run = held.runs.get(experiment);
    if (placed === 'claimed' && run) await within(JOB_MS, run.placed);
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
        ...Object.values(rounds).map((round) => round.stop()),
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

/** What takes work and has it in hand. */
function createParts(deps: DispatcherDeps) {
  const { store, line, log, id, compile, leaseMs = LEASE_MS, refreshMs = 2_000, lookMs = LOOK_MS } = deps;
  const now = nowOf(deps);
  const rayWorkers = createRayWorkers({ store, ...(deps.connect && { connect: deps.connect }) });
  const { hooks = {}, retry = { firstMs: 100, longestMs: 3_000 }, again } = deps;
  const held = createHeld({
    ...{ store, dispatcher: id, leaseMs, log },
    attempt: { rayWorkerOf: rayWorkers.of, launches: createLaunches(), compile, hooks, retry, again },
    // Ray gives resources back a little after a driver's end: what it has now is asked for, then chosen from.
    onEnd: () => refresh.poke(),
  });
  const placement = createPlacement({
    ...{ store, line, log, now, leaseMs, dispatcher: id, everyMs: lookMs },
    onClaimed: (lease, { cluster }) => held.begin({ ...FRESH, lease, cluster }),
  });
  const refresh = createClusterRefresh({
    ...{ store, rayWorkers, everyMs: refreshMs, now, log },
    onRefresh: placement.poke,
    onSilent: (cluster: Cluster) => requestRepair(store, cluster),
  });
  const verification = createVerification({
    ...{ store, verifier: deps.verifier, holder: id, log, everyMs: lookMs, retry },
    concurrency: deps.verifications ?? 2,
    leaseMs: leaseMs * 4,
  });
  const commands =
    deps.pack &&
    createCommands({
      ...{ store, dispatcher: id, leaseMs, log },
      run: createClusterCommands({
        ...{ store, pack: deps.pack },
        preflight: { rayWorkerOf: rayWorkers.of, compile },
      }),
      everyMs: deps.reconcileMs ?? RECONCILE_MS,
    });
  return { rayWorkers, held, placement, refresh, verification, commands };
}

/** What is gone through again and again, whatever the dispatcher has in hand. */
function createRounds(
  deps: DispatcherDeps,
  { rayWorkerOf, stopped }: { rayWorkerOf: RayWorkers['of']; stopped: () => boolean },
) {
  const { store, line, log, id, leaseMs = LEASE_MS, lookMs = LOOK_MS, reconcileMs = RECONCILE_MS } = deps;
  const reconcile = createReconciler({ store, line, step: RECONCILED_AT_ONCE, log });
  return {
    reconciler: createLoop({
      ...{ name: 'reconciler', everyMs: reconcileMs, log },
      async run() {
        await failOverdue({ store, log });
        await reconcile();
      },
    }),
    sweeps: createLoop({
      ...{ name: 'sweeps', everyMs: reconcileMs, log },
      run: () => advanceSweeps({ store, line, log, stopped }),
    }),
    rules: createLoop({
      ...{ name: 'rules', everyMs: lookMs, log },
      run: createRulesRound({ store, log, leaseMs, stopped }),
    }),
    retention: createRetention({
      ...{ store, dispatcher: id, now: nowOf(deps), log, rayWorkerOf },
      everyMs: deps.retentionMs ?? 30_000,
      archiveAfterMs: deps.archiveAfterMs ?? 60_000,
    }),
  };
}

function nowOf({ clock = Date }: DispatcherDeps): () => number {
  return () => clock.now();
}
