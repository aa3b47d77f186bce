import { randomBytes, randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { Redis } from 'ioredis';
import {
  processEnvironment,
  processSettings,
  type Settings,
  SettingsError,
  secretsOf,
} from './config/settings.ts';
import { EchelonError } from './core/errors.ts';
import { createHiddenValues, type HiddenValues } from './core/hidden-values.ts';
import { newCommandId } from './core/ids.ts';
import type { AddRequest, AddSecret } from './dispatch/cluster-commands.ts';
import { packRayWorker } from './dispatch/cluster-setup/package.ts';
import { createDispatcher, type DispatcherStats } from './dispatch/dispatcher.ts';
import { createApp } from './http/app.ts';
import type { AppDeps } from './http/deps.ts';
import { createLog, type Log } from './observe/log.ts';
import { createMetrics, type Metrics, SHOWN_EXPERIMENTS, type StoreFigures } from './observe/metrics.ts';
import { startMetricsServer } from './observe/metrics-server.ts';
import { observeStore } from './observe/observe-store.ts';
import { compilePlan } from './plan/compile-plan.ts';
import { createCommandQueues } from './queue/commands.ts';
import { createLine } from './queue/line.ts';
import { projectFigures } from './queue/project-figures.ts';
import { isCommandOver } from './schemas/clusters.ts';
import type { Archive } from './store/archive.ts';
import { createDirectoryArchive } from './store/archive-directory.ts';
import { createS3Archive } from './store/archive-s3.ts';
import { createStore } from './store/create-store.ts';
import type { Store } from './store/store.ts';
import { createVerifierPool } from './verify/pool.ts';

export { processEnvironment, processSettings, SettingsError };

const { version: VERSION } = JSON.parse(
  readFileSync(new URL('../package.json', import.meta.url), 'utf8'),
) as {
  version: string;
};

const RAY_WORKER_DIRECTORY = fileURLToPath(new URL('../deploy/ray-worker', import.meta.url));

/** What a process does. Any number of processes may have the same role. */
export type Role = 'api' | 'dispatcher';

/** Where Redis is: a Unix socket, or a URL. */
export type RedisPlace = { path: string } | { url: string };

/** A cluster that is made known at start. */
export interface KnownCluster {
  name: string;
  /** host:port of its ray-worker. */
  address: string;
  token: string;
}

/** A Ray cluster that is added at start, as `echelon clusters add` would; its dispatcher is in the same process. */
export interface RayCluster {
  name: string;
  /** ray://host:port */
  rayAddress: string;
  rayToken: string;
  sharedRoot: string;
}

/** Running roles. */
export interface Services {
  /** Where the api is reached, its token, and a link that signs a browser in once; undefined without an api. */
  url: string | undefined;
  token: string | undefined;
  loginUrl: string | undefined;
  /** Hands over and stops, in reverse order of the start. Trainings are not touched. */
  stop(): Promise<void>;
}

/** Builds and starts the roles of this process. Where something cannot be started, nothing stays behind. */
export async function startServices(options: {
  roles: Role[];
  settings: Settings;
  redis: RedisPlace | null;
  clusters: (KnownCluster | RayCluster)[];
  /** Where the log goes; standard error where it is not given. */
  logFile?: string;
}): Promise<Services> {
  const { settings, roles } = options;
  await using resources = new AsyncDisposableStack();
  const hidden = hiddenValues(settings, options.clusters);
  const log = createLog({
    ...{ level: settings.logLevel, name: roles.join('+'), file: options.logFile },
    redact: hidden.redact,
  });
  const place = options.redis ?? redisPlace(settings);
  const plainStore = hideTokens(await openStore({ place, settings, log, resources }), hidden);
  let dispatcherStats: (() => DispatcherStats) | undefined;
  const metrics = createMetrics({
    role: roles.join('+'),
    version: VERSION,
    readStore: () => readFigures(plainStore),
    dispatcher: () => dispatcherStats?.(),
  });
  const store = observeStore(plainStore, metrics);
  const redis = connect(
    place,
    { ...passwordOf(settings), maxRetriesPerRequest: 1, enableOfflineQueue: false },
    log,
  );
  resources.defer(() => redis.disconnect());
  const line = createLine({
    redis,
    prefix: `{${settings.redisPrefix}}`,
    onError: (error) => log.warn({ err: error }, 'queue connection'),
  });
  resources.defer(() => line.close());
  const verifier = createVerifierPool({
    threads: settings.verifyThreads,
    budgetMs: settings.verifyBudgetMs,
    budgetBytes: settings.verifyBudgetBytes,
  });
  resources.defer(() => verifier.close());
  const commands = createCommandQueues({
    redis,
    prefix: `{${settings.redisPrefix}}`,
    onError: (error) => log.warn({ err: error }, 'queue connection'),
  });
  resources.defer(() => commands.close());
  const known = options.clusters.filter((cluster) => 'address' in cluster);
  const added = options.clusters.filter((cluster) => 'rayAddress' in cluster);
  await makeKnown(store, known);

  if (roles.includes('api')) await store.adoptProjects(Date.now());
  let access: Access | undefined;
  if (roles.includes('api'))
    access = await startApi({
      store,
      line,
      commands,
      verifier,
      onAnswered: metrics.answered,
      settings,
      log,
      resources,
      hidden,
    });
  if (roles.includes('dispatcher')) {
    const id = `${hostname()}-${process.pid}-${randomUUID().slice(0, 8)}`;
    const dispatcher = createDispatcher({
      id,
      store,
      line,
      verifier: {
        async verify(wire, signal) {
          const started = performance.now();
          const report = await verifier.verify(wire, signal);
          metrics.verified((performance.now() - started) / 1000);
          return report;
        },
      },
      compile: compilePlan,
      commands: { queues: commands, pack: () => packRayWorker(RAY_WORKER_DIRECTORY) },
      verifications: settings.verifyThreads,
      leaseMs: settings.leaseMs,
      log,
    });
    await dispatcher.start();
    dispatcherStats = dispatcher.stats;
    resources.defer(() => dispatcher.stop({ handOver: true }));
  }
  await serveMetrics({ settings, metrics, store: plainStore, resources });
  await addRayClusters(store, added);
  const owned = resources.move();
  return {
    url: access?.url,
    token: access?.token,
    loginUrl: access?.loginUrl,
    stop: () => owned.disposeAsync(),
  };
}

/** What a log of these services must not show, as far as it is known at the start. */
function hiddenValues(settings: Settings, clusters: (KnownCluster | RayCluster)[]): HiddenValues {
  const hidden = createHiddenValues();
  for (const value of secretsOf(settings)) hidden.hide(value);
  if (settings.redisUrl !== null && URL.canParse(settings.redisUrl))
    hidden.hide(decodeURIComponent(new URL(settings.redisUrl).password));
  for (const cluster of clusters) hidden.hide('token' in cluster ? cluster.token : cluster.rayToken);
  return hidden;
}

/** The same store; the tokens of the clusters that it names are hidden from then on. */
function hideTokens(store: Store, hidden: HiddenValues): Store {
  return {
    ...store,
    async clusters() {
      const clusters = await store.clusters();
      for (const { token, ray } of clusters) for (const value of [token, ray?.token]) hidden.hide(value);
      return clusters;
    },
  };
}

type Connections = { place: RedisPlace; settings: Settings; log: Log; resources: AsyncDisposableStack };

function redisPlace({ redisUrl }: Settings): RedisPlace {
  if (redisUrl === null)
    throw new SettingsError(
      'REDIS_URL is not set; only `echelon up` and `echelon demo` start a Redis of their own',
    );
  return { url: redisUrl };
}

type Haste = {
  password?: string;
  commandTimeout?: number;
  maxRetriesPerRequest: number;
  enableOfflineQueue?: boolean;
};

/** A password in the address wins, since the address is read first. */
function passwordOf({ redisPassword }: Settings): { password?: string } {
  return redisPassword === null ? {} : { password: redisPassword };
}

function connect(place: RedisPlace, options: Haste, log: Log): Redis {
  // For ioredis a path to a socket and a URL are both a place in its first argument.
  const redis = new Redis('path' in place ? place.path : place.url, options);
  // ioredis reconnects by itself; without a listener the first error would end the process.
  redis.on('error', (error) => log.debug({ err: error }, 'redis connection'));
  return redis;
}

/** A command that gets no answer in this time fails, so that a request is answered within a second. */
const COMMAND_TIMEOUT_MS = 800;

/** Keeps nothing; what is asked of it at start shows whether the bucket may be used. */
const NOBODY = 'start-of-a-process';

async function openArchive(settings: Settings): Promise<Archive> {
  const { archiveUrl, archiveAccessKey: accessKey, archiveSecretKey: secretKey } = settings;
  if (archiveUrl !== null && accessKey !== null && secretKey !== null) {
    const archive = createS3Archive({ ...archiveUrl, accessKey, secretKey });
    await archive.remove(NOBODY);
    return archive;
  }
  const directory = settings.archiveDir ?? join(settings.stateDir, 'archive');
  await mkdir(directory, { recursive: true, mode: 0o700 });
  return createDirectoryArchive(directory);
}

async function openStore({ place, settings, log, resources }: Connections): Promise<Store> {
  const haste = { commandTimeout: COMMAND_TIMEOUT_MS, maxRetriesPerRequest: 1 };
  const redis = connect(place, { ...passwordOf(settings), ...haste }, log);
  resources.defer(() => redis.disconnect());
  const store = createStore({
    redis,
    archive: await openArchive(settings),
    prefix: settings.redisPrefix,
  });
  resources.defer(() => store.close());
  try {
    await store.checkFitness();
  } catch (error) {
    if (!settings.allowUnfitRedis || !(error instanceof EchelonError) || error.code !== 'store-unfit')
      throw error;
    log.warn({ err: error }, 'this Redis may lose what was accepted');
  }
  return store;
}

/** Throws an {@link EchelonError} where the Redis of `settings` does not answer, or would lose what it accepts. */
export async function checkStore(settings: Settings): Promise<void> {
  await using resources = new AsyncDisposableStack();
  const log = createLog({ level: 'silent', name: 'check' });
  await openStore({ place: redisPlace(settings), settings, log, resources });
}

async function makeKnown(store: Store, clusters: KnownCluster[]): Promise<void> {
  const known = new Map((await store.clusters()).map((cluster) => [cluster.name, cluster]));
  for (const { name, address, token } of clusters) {
    const before = known.get(name);
    await store.putCluster({
      ...{ backfill: false, generation: null, lastSeenAt: null, nodes: [], ca: null },
      ...before,
      ...{ name, address, token },
    });
  }
}

async function serveMetrics({
  settings,
  metrics,
  store,
  resources,
}: {
  settings: Settings;
  metrics: Metrics;
  store: Store;
  resources: AsyncDisposableStack;
}): Promise<void> {
  if (settings.metricsPort === 0) return;
  const { metricsHost: host, metricsPort: port } = settings;
  const server = await startMetricsServer({ host, port, metrics, ready: () => store.pressure() });
  resources.defer(() => server.close());
}

/** What the store says of the whole system, for one scrape. */
async function readFigures(store: Store): Promise<StoreFigures> {
  const [experiments, line, verificationBacklog, leases, memory, clusters, running] = await Promise.all([
    store.counts(),
    store.position(''),
    store.backlog(),
    store.leases(),
    store.pressure(),
    store.clusters(),
    store.list({ state: 'running', limit: SHOWN_EXPERIMENTS }),
  ]);
  const [projects, pauses, archiveBacklog] = await Promise.all([
    store.projects(),
    store.pauses(),
    store.archiveBacklog(),
  ]);
  const reservations = await Promise.all(clusters.map(({ name }) => store.reservations(name)));
  return {
    experiments,
    queueLength: line.length,
    verificationBacklog,
    archiveBacklog,
    leases,
    memory,
    clusters: clusters.map(({ name, lastSeenAt, nodes }, at) => ({
      ...{ name, lastSeenAt, nodes },
      reserved: reservations[at]?.items ?? [],
    })),
    projects: projectFigures({
      ...{ clusters, projects, paused: pauses.projects },
      held: reservations.flatMap(({ items }) => items),
    }),
    running: running.items.map(({ id, progress }) => ({ id, ...progress })),
  };
}

/** Adds clusters as a person would: by a command that a dispatcher carries out. Throws what it found. */
async function addRayClusters(store: Store, clusters: RayCluster[]): Promise<void> {
  await Promise.all(
    clusters.map(async ({ name, rayAddress, rayToken, sharedRoot }) => {
      const id = newCommandId();
      const request: AddRequest = {
        ...{ address: rayAddress, sharedRoot, node: null, port: null, advertise: null, backfill: false },
      };
      const secret: AddSecret = { token: rayToken, tls: null };
      await store.createCommand({ id, cluster: name, kind: 'add', request, secret: JSON.stringify(secret) });
      for (;;) {
        const command = await store.command(id);
        if (command && isCommandOver(command)) {
          if (command.state === 'succeeded') return;
          const found = command.problems.find(({ severity }) => severity === 'error');
          throw new Error(`The cluster ${name} could not be added: ${found?.message} ${found?.mend}`);
        }
        await delay(50);
      }
    }),
  );
}

interface Access {
  url: string;
  token: string;
  loginUrl: string;
}

type ApiParts = Omit<Connections, 'place'> &
  Pick<AppDeps, 'store' | 'line' | 'commands' | 'verifier' | 'onAnswered'> & { hidden: HiddenValues };

async function startApi({ settings, log, resources, hidden, ...parts }: ApiParts): Promise<Access> {
  const tokens = settings.tokens.length > 0 ? settings.tokens : [await keptSecret(settings, 'token')];
  const cookieSecret = settings.cookieSecret ?? (await keptSecret(settings, 'cookie-secret'));
  const loginCode = randomBytes(24).toString('base64url');
  for (const value of [...tokens, cookieSecret, loginCode]) hidden.hide(value);
  const publicUrl = (port: number): string =>
    settings.publicUrl ??
    `http://${settings.host.includes(':') ? `[${settings.host}]` : settings.host}:${port}`;
  const app = await createApp({
    ...parts,
    log,
    clock: Date,
    settings: {
      version: VERSION,
      publicUrl: publicUrl(settings.port),
      allowedHosts: [
        ...settings.allowedHosts,
        ...(settings.publicUrl ? [new URL(settings.publicUrl).hostname] : []),
      ],
      tokens,
      cookieSecret,
      loginCodes: [loginCode],
    },
  });
  resources.defer(() => app.close());
  await app.listen({ host: settings.host, port: settings.port });
  const { port } = app.server.address() as { port: number };
  return { url: publicUrl(port), token: tokens[0]!, loginUrl: `${publicUrl(port)}/login?code=${loginCode}` };
}

/** A secret that is made once and kept in the state directory, readable by this user only. */
async function keptSecret({ stateDir }: Settings, name: string): Promise<string> {
  const file = join(stateDir, name);
  const kept = await readFile(file, 'utf8').catch(() => '');
  if (kept.trim()) return kept.trim();
  const secret = randomBytes(32).toString('base64url');
  await mkdir(stateDir, { recursive: true, mode: 0o700 });
  await writeFile(file, `${secret}\n`, { mode: 0o600 });
  return secret;
}

/**
 * The clusters that `--cluster name=address` and `--cluster-token-file` name; the token files are in the order of the
 * clusters.
 */
export async function namedClusters(options: {
  cluster?: string[];
  clusterTokenFile?: string[];
}): Promise<KnownCluster[]> {
  const { cluster = [], clusterTokenFile: files = [] } = options;
  if (cluster.length !== files.length)
    throw new SettingsError(
      'each --cluster name=host:port goes with one --cluster-token-file, in the same order',
    );
  return await Promise.all(
    cluster.map(async (text, at) => {
      const [name, address] = text.split('=', 2);
      if (!name || !address) throw new SettingsError(`--cluster takes name=host:port, not "${text}"`);
      return { name, address, token: (await readFile(files[at]!, 'utf8')).trim() };
    }),
  );
}
