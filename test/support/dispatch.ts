import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { inspect } from 'node:util';
import { Redis } from 'ioredis';
import { newExperimentId, parseEntryId } from '../../src/core/ids.ts';
import type { LaunchPlan } from '../../src/core/launch-plan.ts';
import type { PriorityClass } from '../../src/core/priority-class.ts';
import { isFinal, type State } from '../../src/core/states.ts';
import type { BatchVerifier } from '../../src/dispatch/background/verification.ts';
import { createDispatcher, type Dispatcher, type DispatcherDeps } from '../../src/dispatch/dispatcher.ts';
import { impatient } from '../../src/main/open-store.ts';
import { resolveRules } from '../../src/plan/rules.ts';
import { createExperimentsQueue, type ExperimentsQueue } from '../../src/queue/experiments-queue.ts';
import type { Experiment } from '../../src/schemas/experiment.ts';
import type { ResolvedRule, RuleSpec } from '../../src/schemas/rules.ts';
import { createDirectoryArchive } from '../../src/store/archive/archive-directory.ts';
import { type Bucket, createS3Archive } from '../../src/store/archive/archive-s3.ts';
import type { StoredReport } from '../../src/store/batches/stored-report.ts';
import { watchClock } from '../../src/store/clock/watch-clock.ts';
import { createStore, type Store } from '../../src/store/store.ts';
import { type FakeDriver, fakeArguments } from './fake-driver.ts';
import { type FakeRayWorker, startFakeRayWorker } from './fake-ray-worker.ts';
import { createLineLog, keepLine } from './kept-log.ts';
import { type RedisServer, type RedisServerOptions, startRedis } from './redis.ts';
import { reportOf } from './report.ts';
import { clusterRecord } from './store.ts';

/** A log that keeps quiet, unless a test fails; `ECHELON_TEST_LOG=1` makes it talk. */
export const QUIET = createLineLog((line) => keepLine('this process', line));

/** What a test submits instead of a real spec: the compiled plan, and the limits that the attempt reads. */
export interface TestSpec {
  plan: LaunchPlan;
  maxAttempts: number;
  maxClusterFaults: number;
  rules?: ResolvedRule[];
  timeoutSeconds?: number | null;
  deadline?: string | null;
}

/** The variable of a real spec that holds the arguments of its fake driver, separated by spaces. */
export const FAKE_DRIVER = 'FAKE_DRIVER';

/** A real spec, as far as its fake driver needs it. */
interface RealSpec {
  env?: Record<string, string>;
  resources?: { gpus?: number };
}

/** The `compile` of such specs. A real spec gets the fake driver of its {@link FAKE_DRIVER}; default: one with its defaults. */
export const compileTestSpec: DispatcherDeps['compile'] = (spec) => {
  const { plan, env, resources } = spec as unknown as Partial<TestSpec> & RealSpec;
  return plan ?? { ...planOf({}, resources?.gpus ?? 0, 1), arguments: env?.[FAKE_DRIVER]?.split(' ') ?? [] };
};

/** A verifier that finds every row exact. */
export const AGREEING: BatchVerifier = {
  async verify(): Promise<StoredReport> {
    return reportOf({
      step: 1,
      rows: 4,
      exact: 4,
      rounding: 0,
      wrong: 0,
      unverifiable: 0,
      errors: [],
      ok: true,
    });
  },
};

/** Pauses between two questions of {@link until}. */
const MIN_PAUSE_MS = 5;
const MAX_PAUSE_MS = 20;

const SHOWN = { depth: 4, breakLength: 160, compact: 6 };

/** What an {@link until} waits for; false and the like: not yet. */
export type Condition<T> = () => Promise<T | undefined | false | null> | T | undefined | false | null;

/**
 * Waits until `condition` gives something, asking again after pauses that grow. Fails after `seconds`, with what `instead`
 * says of how it is then.
 */
export async function until<T>(
  condition: Condition<T>,
  what: string,
  { seconds = 60, instead }: { seconds?: number; instead?: () => unknown } = {},
): Promise<T> {
  const begun = performance.now();
  for (;;) {
    const value = await condition();
    if (value) return value;
    const waited = performance.now() - begun;
    if (waited > seconds * 1000) {
      const seen = instead === undefined ? '' : `; instead: ${inspect(await instead(), SHOWN)}`;
      throw new Error(`not in ${seconds} s: ${what}${seen}`);
    }
    // Each question costs CPU, which other tests need: a long wait asks less often.
    await delay(Math.min(MAX_PAUSE_MS, MIN_PAUSE_MS + waited / 20));
  }
}

/** Connects a store and a queue to a Redis and an archive (a directory or a bucket), as each process of a fleet does. */
export function connectTo(redisServer: { url: string }, place: string | Bucket): Connected {
  const redis = new Redis(redisServer.url, impatient(3_000));
  redis.on('error', () => {});
  const archive = typeof place === 'string' ? createDirectoryArchive(place) : createS3Archive(place);
  const store = createStore({ redis, archive });
  const queue = createExperimentsQueue({
    redis,
    prefix: '{echelon}',
    onError: (error) => QUIET.warn({ err: error }, 'queue'),
    statesOf: store.queue.states,
  });
  return {
    redis,
    store,
    queue,
    async close() {
      await queue.close();
      await store.close();
      redis.disconnect();
    },
  };
}

/** The installation of the processes of tests. */
export const TEST_INSTALLATION = 'tests';

/** Binds the store of a process to its installation, which the first process makes. */
export function bindStore(store: Store): Promise<string> {
  // Redis may be away at its start.
  return until(() => store.bind(TEST_INSTALLATION).catch(() => undefined), 'Redis answers');
}

/** See {@link connectTo}. */
export interface Connected {
  redis: Redis;
  store: Store;
  queue: ExperimentsQueue;
  close(): Promise<void>;
}

/** A Redis, a fake ray-worker registered as cluster `fake`, and what tests do with them. */
export interface Bench extends Connected {
  server: RedisServer;
  directory: string;
  archive: string | Bucket;
  rayWorker: FakeRayWorker;
  /** `times` beside {@link TEST_TIMES}. */
  dispatcher(deps?: Partial<DispatcherDeps>): Promise<Dispatcher>;
  submit(driver: FakeDriver, options?: SubmitOptions): Promise<string>;
  /** The record of an experiment once it `holds` (`what`: 'ran again'); fails as soon as it has ended without. */
  comes(id: string, what: string, holds: (record: Experiment) => boolean): Promise<Experiment>;
  reaches(id: string, state: State): Promise<Experiment>;
  stop(): Promise<void>;
}

/** What a test may vary of a submission. */
export interface SubmitOptions {
  id?: string;
  priority?: number;
  priorityClass?: PriorityClass;
  cpus?: number;
  /** Of all its nodes together. */
  gpus?: number;
  nodes?: number;
  maxAttempts?: number;
  gracePeriodMs?: number;
  cluster?: string | null;
  project?: string;
  /** False: only the record, as if the process had died before it added the job. */
  enqueue?: boolean;
  plan?: Partial<LaunchPlan>;
  /** Default: none. */
  rules?: RuleSpec[];
  timeoutSeconds?: number;
  /** As `Date` writes it in UTC. */
  deadline?: string;
  /** More fields of the spec. */
  spec?: { checkpointStore: object };
}

/** Short times, so that a fault test takes seconds. */
export const TEST_TIMES = {
  // Not to run out where a busy machine holds up a test's process; tests in which one is to run out choose theirs.
  leaseMs: 3_000,
  roundMs: 100,
  refreshMs: 200,
  reconcileMs: 300,
  releaseMs: 500,
  cutOffMs: 600,
  retry: { firstMs: 20, longestMs: 200 },
  again: { firstMs: 20, longestMs: 100 },
};

/** Starts a {@link Bench}. */
export async function startBench({
  cpus = 8,
  gpus = 0,
  nodes = ['fake'],
  redis = {},
  bucket,
}: {
  cpus?: number;
  gpus?: number;
  /** Ids of the cluster's nodes. Default: one. */
  nodes?: readonly string[];
  redis?: RedisServerOptions;
  /** Its archive. Default: a directory. */
  bucket?: Bucket;
} = {}): Promise<Bench> {
  const directory = await mkdtemp(join(tmpdir(), 'echelon-dispatch-'));
  const server = await startRedis(redis);
  const rayWorker = await startFakeRayWorker({ directory, cpus, gpus, nodes });
  const archive = bucket ?? join(directory, 'archive');
  const connected = connectTo(server, archive);
  const { store, queue } = connected;
  const started: Dispatcher[] = [];
  // As every process does: if all that watch it are dead, the store's time stands still, and no lease ends.
  const clock = await watchClock(store);
  await store.clusters.put(
    clusterRecord({ name: 'fake', address: rayWorker.address, token: rayWorker.token }),
  );

  return {
    ...connected,
    server,
    directory,
    archive,
    rayWorker,
    async dispatcher(deps = {}) {
      const dispatcher = createDispatcher({
        store,
        queue,
        verifier: AGREEING,
        compile: compileTestSpec,
        log: QUIET,
        id: `test-${started.length + 1}`,
        ...deps,
        times: { ...TEST_TIMES, ...deps.times },
      });
      started.push(dispatcher);
      await dispatcher.start();
      return dispatcher;
    },
    submit: (driver, options = {}) => submit(connected, driver, options),
    comes: (id, what, holds) => comes(store, id, what, holds),
    reaches: (id, state) => comes(store, id, `was ${state}`, (record) => record.state === state),
    async stop() {
      await Promise.all(started.map((dispatcher) => dispatcher.stop({ handOver: false })));
      clock.stop();
      await rayWorker.stop();
      await connected.close();
      await server.stop();
      await rm(directory, { recursive: true, force: true });
    },
  };
}

/** For `comes`: it runs, as that attempt. */
export function runsAs(number: number): (record: Experiment) => boolean {
  return ({ state, attempt }) => state === 'running' && attempt === number;
}

/** For `comes`: all its batches have their reports, and none will be added. */
export function isVerified({ verification }: Experiment): boolean {
  return verification.status === 'complete';
}

async function comes(
  store: Store,
  id: string,
  what: string,
  holds: (record: Experiment) => boolean,
): Promise<Experiment> {
  const shown = async () => {
    const record = await store.experiments.get(id);
    const attempts = (await store.attempts.list(id)).map(({ ended, ...rest }) => ({
      ...rest,
      ended: ended?.cause,
    }));
    if (record === undefined) return { record, attempts };
    const { state, reason, progress, verification } = record;
    return { state, reason, step: progress.step, verification: verification.status, attempts };
  };
  return await until(
    async () => {
      const record = await store.experiments.get(id);
      if (record && holds(record)) return record;
      const over = record && isFinal(record.state) && isVerified(record);
      if (over) assert.fail(`${id} has ended and never ${what}: ${inspect(await shown(), SHOWN)}`);
      return undefined;
    },
    `${id} ${what}`,
    { instead: shown },
  );
}

function planOf(driver: FakeDriver, gpus: number, cpus: number): LaunchPlan {
  const fixed = { engine: 'replay', module: 'fake', environment: {}, gracePeriodMs: 500, files: {} };
  return { ...fixed, arguments: fakeArguments(driver), gpus, cpus };
}

/** Submits as the API does: the record, then the job. */
export async function submit(
  { store, queue }: Pick<Connected, 'store' | 'queue'>,
  driver: FakeDriver,
  options: SubmitOptions = {},
): Promise<string> {
  const id = options.id ?? newExperimentId();
  const { priority = 0, cpus = 1, gpus = 0, gracePeriodMs = 500 } = options;
  const plan: LaunchPlan = { ...planOf(driver, gpus, cpus), gracePeriodMs, ...options.plan };
  const spec: TestSpec = {
    plan,
    maxAttempts: options.maxAttempts ?? 3,
    maxClusterFaults: 20,
    rules: resolveRules(options.rules ?? []),
    timeoutSeconds: options.timeoutSeconds ?? null,
    deadline: options.deadline ?? null,
    ...options.spec,
  };
  await store.experiments.submit({
    id,
    project: options.project ?? 'default',
    name: 'test',
    priority,
    ...(options.priorityClass && { priorityClass: options.priorityClass }),
    cluster: options.cluster ?? null,
    gpus,
    cpus,
    submitted: spec,
    resolved: options.nodes === undefined ? spec : { ...spec, resources: { nodes: options.nodes } },
    defaults: [],
    fingerprint: null,
    customCode: false,
  });
  if (options.enqueue !== false) await queue.enqueue([id]);
  return id;
}

/** Fails unless the events of an attempt stand in the stream once, in order and from the first on. */
export async function assertWholeStream(store: Store, id: string, attempt: number): Promise<number> {
  const entries = await store.events.read(id, undefined, 100_000);
  const sequences = entries.flatMap((entry) => {
    const place = parseEntryId(entry.id);
    return place?.fromAttempt && place.attempt === attempt ? [place.sequence] : [];
  });
  assert.deepEqual(
    sequences,
    Array.from({ length: sequences.length }, (_, index) => index + 1),
  );
  return sequences.length;
}
