import type { Redis } from 'ioredis';
import { createAnswers } from './access/answers.ts';
import { createApiKeys } from './access/api-keys.ts';
import { createAudit } from './access/audit.ts';
import { createProjects } from './access/projects.ts';
import type { Archive } from './archive/archive.ts';
import { createArchiveReader } from './archive/archive-reader.ts';
import { createArchiveStreams } from './archive/archive-stream.ts';
import { createLeases } from './attempts/leases.ts';
import { createBatches } from './batches/batches.ts';
import { createClock } from './clock/clock.ts';
import { createClusters } from './clusters/clusters.ts';
import { createCommands } from './clusters/commands.ts';
import { createCordons } from './clusters/cordons.ts';
import { DEFAULT_STORE_LIMITS, type StoreContext, type StoreLimits } from './context.ts';
import { createAppend } from './events/append.ts';
import { createEvents } from './events/events.ts';
import { createFeed } from './events/feed.ts';
import { createExperiments } from './experiments/experiments.ts';
import { createCompaction, createMetricSeries } from './metrics/metric-series.ts';
import { createPositions } from './queue/positions.ts';
import { createQueue } from './queue/queue.ts';
import { createSnapshot } from './queue/snapshot.ts';
import { guarded } from './redis/errors.ts';
import { createFitness, createPressure } from './redis/fitness.ts';
import { createKeys } from './redis/keys.ts';
import { checkStoreLayout, STORE_LAYOUT } from './redis/layouts.ts';
import { createRevisions } from './redis/revisions.ts';
import { loadScripts } from './redis/scripts.ts';
import { createWakeHub, WAKE_TOPICS, type WakeTopic } from './redis/wake-hub.ts';
import { createRetention } from './retention/retention.ts';
import { createRules } from './rules/rules.ts';
import { createRuns } from './runs/runs.ts';
import { createSubscriptions } from './subscriptions/subscriptions.ts';
import { createComparisonRuns } from './sweeps/comparison-runs.ts';
import { createSweeps } from './sweeps/sweeps.ts';
import { createUsage } from './usage/usage.ts';

/*
 * Invariants:
 * - a state and its event are written in one step, along TRANSITIONS, and by the lease holder if there is one;
 * - attempt numbers of an experiment only rise, by one at a time; by more only if a cluster knows higher ones;
 * - event n of an attempt is recorded once, after n - 1;
 * - lease expiry is judged by the server's clock (Redis TIME) and nothing else.
 */

/** Everything that Echelon records, one part per aggregate: what {@link createStore} returns. */
export type Store = ReturnType<typeof createStore>;

/** A method of the store as `aggregate.method`. */
export type StorePath = {
  [A in keyof Store]: Store[A] extends (...args: never) => unknown ? A : `${A}.${keyof Store[A] & string}`;
}[keyof Store];

interface StoreOptions {
  /**
   * The connection for all commands. The caller sets its timeouts (`commandTimeout`, `maxRetriesPerRequest`) and closes it
   * after the store.
   */
  redis: Redis;
  archive: Archive;
  /** All keys begin with `{prefix}`; default `echelon`. */
  prefix?: string;
  limits?: Partial<StoreLimits>;
}

/**
 * The store on a Redis server. Every method throws EchelonError only: `store-unavailable` if the server does not answer (a
 * write may then have taken effect; repeating it is safe), `store-full`, and the codes in its own comment. `close` ends
 * the store's own connection for wake-ups and its followers.
 */
export function createStore(options: StoreOptions) {
  const context = createContext(options);
  const pressure = createPressure(context);
  const batches = createBatches(context);
  const queue = createQueue(context);
  const apiKeys = createApiKeys(context);
  const clusters = createClusters(context);
  const experiments = createExperiments(context, pressure);
  const events = createEvents(context);
  const sweeps = createSweeps(context, pressure);
  return {
    experiments,
    attempts: createLeases(context),
    queue: { ...createPositions(context), ...queue, ...createSnapshot(context, queue) },
    events: { ...createAppend(context), ...events },
    feed: createFeed(context),
    metrics: { ...createMetricSeries(context), ...createCompaction(context) },
    batches,
    sweeps,
    comparisons: createComparisonRuns(context, { experiments, events, sweeps }),
    subscriptions: createSubscriptions(context),
    rules: createRules(context),
    runs: createRuns(context, pressure),
    clusters: { ...clusters, ...createCordons(context, clusters) },
    usage: createUsage(context),
    commands: createCommands(context),
    projects: createProjects(context, apiKeys),
    access: apiKeys,
    audit: createAudit(context),
    answers: createAnswers(context, pressure),
    revisions: createRevisions(context),
    archive: createArchiveStreams(context),
    retention: createRetention(context, batches),
    ...createFitness(context),
    ...createInstallation(context),
    clock: createClock(context),
    /**
     * Used and maximal memory (0: no limit), whether new work is accepted, and the bytes that a project without a quota of
     * its own may store (0: no limit).
     */
    pressure: pressure.now,
    ...createWakeUps(context),

    async close(): Promise<void> {
      context.hub.close();
    },
  };
}

function createContext({ redis, archive, prefix = 'echelon', limits }: StoreOptions): StoreContext {
  const keys = createKeys(prefix);
  const context: StoreContext = {
    redis,
    keys,
    run: loadScripts(redis, keys.root, () => context.installation),
    archive,
    archived: createArchiveReader(archive),
    hub: createWakeHub(redis),
    limits: { ...DEFAULT_STORE_LIMITS, ...limits },
    installation: null,
  };
  return context;
}

function createWakeUps({ redis, keys, hub }: StoreContext) {
  return {
    /** Sends a wake-up: a hint to look at the store again. Nothing depends on its arrival. */
    async wake(topic: WakeTopic): Promise<void> {
      await guarded(redis.publish(keys.wake, topic));
    },

    async onWake(listener: (topic: WakeTopic) => void): Promise<() => Promise<void>> {
      const subscription = hub.listen(keys.wake, (message) => {
        const topics: readonly WakeTopic[] = message === undefined ? WAKE_TOPICS : [message as WakeTopic];
        for (const topic of topics) listener(topic);
      });
      await subscription.ready;
      return async () => subscription.stop();
    },
  };
}

/** Which installation this Redis belongs to. */
function createInstallation(context: StoreContext) {
  const { redis, keys } = context;
  const installation = () => guarded(redis.get(keys.installation));
  return {
    /** Id of the installation that this Redis belongs to; null before its first start. */
    installation,
    /**
     * Binds this store to an installation, which the Redis gets if it has none. From then on, scripts run on no other Redis.
     * Returns the id that the Redis has. Throws EchelonError `store-foreign` for data of a version with another layout.
     */
    async bind(own: string): Promise<string> {
      await guarded(redis.msetnx(keys.installation, own, keys.layout, String(STORE_LAYOUT)));
      const [id, layout] = (await guarded(redis.mget(keys.installation, keys.layout))) as [
        string,
        string | null,
      ];
      checkStoreLayout(layout);
      context.installation = id;
      return id;
    },
  };
}
