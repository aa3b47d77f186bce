import { readFileSync } from 'node:fs';
import { createVerifierPool, type VerifierPool } from 'echelon-verify/pool';
import type { Redis } from 'ioredis';
import {
  processEnvironment,
  processSettings,
  type Settings,
  SettingsError,
  shownSettings,
} from './config/settings.ts';
import type { DispatcherStats } from './dispatch/dispatcher.ts';
import { type Access, startApi } from './main/api.ts';
import {
  addRayClusters,
  type KnownCluster,
  makeKnown,
  namedClusters,
  type RayCluster,
} from './main/clusters.ts';
import { startDispatcher } from './main/dispatcher.ts';
import { hiddenValues, hideTokens } from './main/hide-secrets.ts';
import {
  checkStore,
  commandTimeout,
  openRedis,
  openStore,
  type RedisPlace,
  redisPlace,
} from './main/open-store.ts';
import { readFigures, serveMetrics } from './main/serve-metrics.ts';
import { createStartPatience } from './main/start-patience.ts';
import { createLog } from './observe/log.ts';
import { createMetrics } from './observe/metrics.ts';
import { observeStore } from './observe/observe-store.ts';
import { createDeliveriesQueue } from './queue/deliveries-queue.ts';
import { createExperimentsQueue } from './queue/experiments-queue.ts';
import { watchClock } from './store/clock/watch-clock.ts';
import { createKeys } from './store/redis/keys.ts';
import { createOwnRedis } from './store/redis/own-redis.ts';
import type { Store } from './store/store.ts';

/*
 * The composition root: config → resources → roles, stopped in reverse order. Each part is built here or in `main/`,
 * and gets what it needs; none of them imports this file.
 */

export {
  checkStore,
  hiddenValues,
  namedClusters,
  processEnvironment,
  processSettings,
  SettingsError,
  shownSettings,
};

const { version } = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8')) as {
  version: string;
};

/** What a process does. Any number of processes may have the same role. */
type Role = 'api' | 'dispatcher';

/** Running roles. Without an api, the fields of {@link Access} are undefined. */
export interface Services extends Partial<Access> {
  /** Hands over and stops, in reverse order of the start. Trainings are not touched. */
  stop(): Promise<void>;
}

/** Builds and starts the roles of this process. If a part cannot start, the started parts are stopped. */
export async function startServices(options: {
  roles: Role[];
  settings: Settings;
  /** Null: the place in the settings. */
  redis: RedisPlace | null;
  clusters: (KnownCluster | RayCluster)[];
  /** File of the log. Default: standard error. */
  logFile?: string;
}): Promise<Services> {
  const { settings, roles, clusters } = options;
  await using resources = new AsyncDisposableStack();
  let dispatcherStats: (() => DispatcherStats) | undefined;
  const parts = await openParts({ ...options, resources, dispatcher: () => dispatcherStats?.() });
  const { store, plainStore, metrics, openVerifier } = parts;
  const known = clusters.filter((cluster) => 'address' in cluster);
  await parts.patience(() => makeKnown(store, known));
  let access: Access | undefined;
  const { verifyProcesses } = settings;
  // Uploads and explanations have processes of their own: they never delay the batches of trainings.
  if (roles.includes('api')) {
    const verifier = openVerifier(Math.max(MIN_API_PROCESSES, verifyProcesses));
    access = await startApi({
      ...parts,
      queue: { ...parts.queue, queues: [...parts.queue.queues, parts.deliveries.queue] },
      verifier,
      settings,
      resources,
      version,
      onAnswered: metrics.answered,
    });
  }
  if (roles.includes('dispatcher')) {
    const verifier = openVerifier(verifyProcesses);
    dispatcherStats = await startDispatcher({ ...parts, verifier, settings, resources });
  }
  await serveMetrics({ settings, metrics, store: plainStore, storeFault: parts.storeFault, resources });
  await addRayClusters(
    store,
    clusters.filter((cluster) => 'rayAddress' in cluster),
  );
  const owned = resources.move();
  return { ...access, stop: () => owned.disposeAsync() };
}

/** One caller cannot keep all processes of an api busy, if there are two or more. */
const MIN_API_PROCESSES = 2;

/** The BullMQ queues; closed by `resources`. `redis`: a connection that fails fast. */
function openQueues({
  redis,
  store,
  settings,
  log,
  resources,
}: Pick<Parameters<typeof openRedis>[0], 'settings' | 'log' | 'resources'> & { redis: Redis; store: Store }) {
  const parts = {
    redis,
    prefix: `{${settings.redisPrefix}}`,
    onError: (error: Error) => log.warn({ err: error }, 'queue connection'),
    statesOf: store.queue.states,
  };
  const [queue, deliveries] = [createExperimentsQueue(parts), createDeliveriesQueue(parts)];
  for (const one of [queue, deliveries]) resources.defer(() => one.close());
  return { queue, deliveries };
}

/** What the roles have in common: `plainStore` is the store unobserved, for the metrics themselves. */
async function openParts({
  settings,
  roles,
  resources,
  dispatcher,
  ...options
}: Parameters<typeof startServices>[0] & {
  resources: AsyncDisposableStack;
  dispatcher: () => DispatcherStats | undefined;
}) {
  const name = roles.join('+');
  const hidden = hiddenValues(settings, options.clusters);
  const log = createLog({ level: settings.logLevel, name, file: options.logFile, redact: hidden.redact });
  const own = createOwnRedis(createKeys(settings.redisPrefix).installation);
  const connections = { place: options.redis ?? redisPlace(settings), settings, log, resources, own };
  const patience = createStartPatience({ waitMs: settings.startWaitMs, log });
  const commandMs = commandTimeout(settings, roles);
  const { store: opened, installation, watch } = await openStore(connections, { commandMs, start: patience });
  const plainStore = hideTokens(opened, hidden);
  const metrics = createMetrics({
    role: name,
    version,
    dispatcher,
    readStore: () => readFigures(plainStore, watch.fault()),
  });
  const clock = await watchClock(plainStore, log);
  resources.defer(() => clock.stop());
  const store = observeStore(plainStore, metrics);
  const queues = openQueues({ ...connections, redis: openRedis(connections, commandMs), store });
  const openVerifier = (processes: number): VerifierPool => {
    const { verifyBudgetMs: budgetMs, verifyBudgetBytes: budgetBytes } = settings;
    const verifier = createVerifierPool({ processes, budgetMs, budgetBytes });
    resources.defer(() => verifier.close());
    return verifier;
  };
  return {
    store,
    plainStore,
    storeFault: watch.fault,
    clock,
    installation,
    metrics,
    ...queues,
    openVerifier,
    log,
    hidden,
    patience,
  };
}
