import type { Redis } from 'ioredis';
import { createAnswers } from './answers.ts';
import { createApiKeys } from './api-keys.ts';
import { createAppend } from './append.ts';
import type { Archive } from './archive.ts';
import { createArchiveReader } from './archive-reader.ts';
import { createArchiveStreams } from './archive-stream.ts';
import { createAudit } from './audit.ts';
import { createBatches } from './batches.ts';
import { createClusters } from './clusters.ts';
import { createCommands } from './commands.ts';
import { DEFAULT_LIMITS, type StoreContext, type StoreLimits } from './context.ts';
import { createEvents } from './events.ts';
import { createExperiments } from './experiments.ts';
import { createFeed } from './feed.ts';
import { createFitness, createPressure } from './fitness.ts';
import { createKeys } from './keys.ts';
import { createLeases } from './leases.ts';
import { createLimits } from './limits.ts';
import { createLine } from './line.ts';
import { createLinePage } from './line-page.ts';
import { createLogPlaces } from './log-places.ts';
import { createMetricSeries } from './metric-series.ts';
import { createProjects } from './projects.ts';
import { createQueue } from './queue.ts';
import { createRecords } from './records.ts';
import { guarded } from './redis-errors.ts';
import { createRetention } from './retention.ts';
import { createRules } from './rules.ts';
import { loadScripts } from './scripts.ts';
import { createSignOuts } from './sign-outs.ts';
import { createSituation } from './situation.ts';
import type { Store } from './store.ts';
import { createSweeps } from './sweeps.ts';
import { createVersions } from './versions.ts';
import { createWakeHub, WAKE_TOPICS, type WakeTopic } from './wake-hub.ts';

/** What a store is made of. */
export interface StoreOptions {
  /**
   * The connection for all commands. It stays the caller's, who chose its timeouts (`commandTimeout`,
   * `maxRetriesPerRequest`) and closes it after the store.
   */
  redis: Redis;
  archive: Archive;
  /** All keys begin with `{prefix}`; default `echelon`. */
  prefix?: string;
  limits?: Partial<StoreLimits>;
}

/**
 * The store on a Redis server. Every method throws EchelonError only: `store-unavailable` where the server does not
 * answer (a write may then have been carried out; repeating it is safe), `store-full`, and what its own comment says.
 * `close` ends the store's own connection for wake-ups and its followers.
 */
export function createStore({ redis, archive, prefix = 'echelon', limits }: StoreOptions): Store {
  const keys = createKeys(prefix);
  const hub = createWakeHub(redis);
  const context: StoreContext = {
    redis,
    keys,
    run: loadScripts(redis, keys.root),
    archive,
    archived: createArchiveReader(archive),
    hub,
    limits: { ...DEFAULT_LIMITS, ...limits },
  };
  const pressure = createPressure(context);
  const batches = createBatches(context);
  const queue = createQueue(context);
  return {
    ...createFitness(context),
    pressure: pressure.now,
    ...createExperiments(context, pressure),
    ...createRecords(context),
    ...createVersions(context),
    ...createAnswers(context, pressure),
    ...createSweeps(context, pressure),
    ...createLine(context),
    ...createLinePage(context),
    ...queue,
    ...createSituation(context, queue),
    ...createLimits(context),
    ...createClusters(context),
    ...createCommands(context),
    ...createProjects(context),
    ...createApiKeys(context),
    ...createAudit(context),
    ...createSignOuts(context),
    ...createLeases(context),
    ...createAppend(context),
    ...createEvents(context),
    ...batches,
    ...createRules(context),
    ...createMetricSeries(context),
    ...createFeed(context),
    ...createLogPlaces(context),
    ...createArchiveStreams(context),
    ...createRetention(context, batches),

    async wake(topic) {
      await guarded(redis.publish(keys.wake, topic));
    },

    async onWake(listener) {
      const subscription = hub.listen(keys.wake, (message) => {
        const topics: readonly WakeTopic[] = message === undefined ? WAKE_TOPICS : [message as WakeTopic];
        for (const topic of topics) listener(topic);
      });
      await subscription.ready;
      return async () => subscription.stop();
    },

    async close() {
      hub.close();
    },
  };
}
