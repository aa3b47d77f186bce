import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { Redis } from 'ioredis';
import { newExperimentId, parseEntryId } from '../../src/core/ids.ts';
import type { State } from '../../src/core/states.ts';
import { createDispatcher, type Dispatcher, type DispatcherDeps } from '../../src/dispatch/dispatcher.ts';
import type { ReportSummary, Verifier } from '../../src/dispatch/verification.ts';
import { resolveRules } from '../../src/plan/rules.ts';
import { createLine, type Line } from '../../src/queue/line.ts';
import type { LaunchPlan } from '../../src/rpc/ray-worker.ts';
import type { Experiment } from '../../src/schemas/experiment.ts';
import type { ResolvedRule, RuleSpec } from '../../src/schemas/rules.ts';
import { createDirectoryArchive } from '../../src/store/archive-directory.ts';
import { createStore } from '../../src/store/create-store.ts';
import type { Store } from '../../src/store/store.ts';
import { type FakeDriver, fakeArguments } from './fake-driver.ts';
import { type FakeRayWorker, startFakeRayWorker } from './fake-ray-worker.ts';
import { type RedisServer, startRedis } from './redis.ts';

/** A logger that keeps quiet; `ECHELON_TEST_LOG=1` makes it talk. */
export const QUIET = {
  info: (context: object, message: string) => talk('info', context, message),
  warn: (context: object, message: string) => talk('warn', context, message),
  error: (context: object, message: string) => talk('error', context, message),
};

function talk(level: string, context: object, message: string): void {
  if (process.env.ECHELON_TEST_LOG) console.error(level, message, context);
}

/** What a test submits instead of a real spec: the compiled plan as it is, and the limits that the story reads. */
export interface TestSpec {
  plan: LaunchPlan;
  maxAttempts: number;
  rules?: ResolvedRule[];
  timeoutSeconds?: number | null;
  deadline?: string | null;
}

/** The `compile` of such specs. */
export const compileTestSpec: DispatcherDeps['compile'] = (spec) => (spec as unknown as TestSpec).plan;

/** A verifier that finds every row exact. */
export const AGREEING: Verifier = {
  async verify(): Promise<ReportSummary> {
    return { rows: 4, exact: 4, rounding: 0, wrong: 0, unverifiable: 0, findings: [], ok: true };
  },
};

/** Waits until `condition` gives something, asking every few milliseconds; fails after `seconds`. */
export async function until<T>(
  condition: () => Promise<T | undefined | false | null> | T | undefined | false | null,
  what: string,
  seconds = 60,
): Promise<T> {
  const deadline = performance.now() + seconds * 1000;
  for (;;) {
    const value = await condition();
    if (value) return value;
    if (performance.now() > deadline) throw new Error(`not in ${seconds} s: ${what}`);
    await delay(5);
  }
}

/** Connects a store and a line to a Redis, as each process of a fleet does. */
export function connectTo(redisServer: { url: string }, archiveDirectory: string): Connected {
  const redis = new Redis(redisServer.url, { maxRetriesPerRequest: 1, commandTimeout: 3_000 });
  redis.on('error', () => {});
  const store = createStore({ redis, archive: createDirectoryArchive(archiveDirectory) });
  const line = createLine({
    redis,
    prefix: '{echelon}',
    onError: (error) => QUIET.warn({ err: error }, 'line'),
  });
  return {
    redis,
    store,
    line,
    async close() {
      await line.close();
      await store.close();
      redis.disconnect();
    },
  };
}

/** See {@link connectTo}. */
export interface Connected {
  redis: Redis;
  store: Store;
  line: Line;
  close(): Promise<void>;
}

/** A Redis, a fake ray-worker registered as cluster `fake`, and what tests do with them. */
export interface Bench extends Connected {
  server: RedisServer;
  directory: string;
  rayWorker: FakeRayWorker;
  dispatcher(deps?: Partial<DispatcherDeps>): Promise<Dispatcher>;
  submit(driver: FakeDriver, options?: SubmitOptions): Promise<string>;
  reaches(id: string, state: State): Promise<Experiment>;
  stop(): Promise<void>;
}

/** What a test may vary of a submission. */
export interface SubmitOptions {
  id?: string;
  priority?: number;
  cpus?: number;
  gpus?: number;
  maxAttempts?: number;
  gracePeriodMs?: number;
  cluster?: string | null;
  /** False: only the record, as if the process had died before it put the job into the line. */
  join?: boolean;
  plan?: Partial<LaunchPlan>;
  /** None where they are left out. */
  rules?: RuleSpec[];
  timeoutSeconds?: number;
  /** As `Date` writes it in UTC. */
  deadline?: string;
}

/** Short times, so that a fault test takes seconds. */
export const TEST_TIMES = {
  leaseMs: 900,
  lookMs: 100,
  refreshMs: 200,
  reconcileMs: 300,
  retry: { firstMs: 20, longestMs: 200 },
  again: { firstMs: 20, longestMs: 100 },
};

/** Starts a {@link Bench}. */
export async function startBench({
  cpus = 8,
  gpus = 0,
}: {
  cpus?: number;
  gpus?: number;
} = {}): Promise<Bench> {
  const directory = await mkdtemp(join(tmpdir(), 'echelon-dispatch-'));
  const server = await startRedis();
  const rayWorker = await startFakeRayWorker({ directory, cpus, gpus });
  const connected = connectTo(server, join(directory, 'archive'));
  const { store, line } = connected;
  const started: Dispatcher[] = [];
  await store.putCluster({
    name: 'fake',
    address: rayWorker.address,
    token: rayWorker.token,
    ca: null,
    backfill: false,
    generation: null,
    lastSeenAt: null,
    nodes: [],
  });

  return {
    ...connected,
    server,
    directory,
    rayWorker,
    async dispatcher(deps = {}) {
      const dispatcher = createDispatcher({
        store,
        line,
        verifier: AGREEING,
        compile: compileTestSpec,
        log: QUIET,
        id: `test-${started.length + 1}`,
        ...TEST_TIMES,
        ...deps,
      });
      started.push(dispatcher);
      await dispatcher.start();
      return dispatcher;
    },
    submit: (driver, options = {}) => submit(connected, driver, options),
    reaches: (id, state) =>
      until(async () => {
        const record = await store.get(id);
        return record?.state === state ? record : undefined;
      }, `${id} is ${state}`),
    async stop() {
      await Promise.all(started.map((dispatcher) => dispatcher.stop({ handOver: false })));
      await rayWorker.stop();
      await connected.close();
      await server.stop();
      await rm(directory, { recursive: true, force: true });
    },
  };
}

/** Submits as the API does: the record, then the place in line. */
export async function submit(
  { store, line }: Pick<Connected, 'store' | 'line'>,
  driver: FakeDriver,
  options: SubmitOptions = {},
): Promise<string> {
  const id = options.id ?? newExperimentId();
  const { priority = 0, cpus = 1, gpus = 0, gracePeriodMs = 500 } = options;
  const plan: LaunchPlan = {
    engine: 'replay',
    module: 'fake',
    arguments: fakeArguments(driver),
    environment: {},
    gpus,
    cpus,
    gracePeriodMs,
    files: {},
    ...options.plan,
  };
  const spec: TestSpec = {
    plan,
    maxAttempts: options.maxAttempts ?? 3,
    rules: resolveRules(options.rules ?? []),
    timeoutSeconds: options.timeoutSeconds ?? null,
    deadline: options.deadline ?? null,
  };
  await store.submit({
    id,
    project: 'default',
    name: 'test',
    priority,
    cluster: options.cluster ?? null,
    gpus,
    cpus,
    submitted: spec,
    resolved: spec,
    defaults: [],
    fingerprint: null,
  });
  if (options.join !== false) await line.join(id, priority);
  return id;
}

/** A dispatcher in a process of its own. */
export interface DispatcherProcess {
  pid: number;
  /** Waits until it has said `word` once more than before. */
  says(word: string): Promise<void>;
  tell(word: string): void;
  kill(signal: NodeJS.Signals): void;
  exited: Promise<void>;
}

/** Starts a dispatcher process beside the bench's own; ended with SIGKILL by the caller or by `t`. */
export async function startDispatcherProcess(
  bench: Bench,
  t: { after(release: () => Promise<void>): void },
  options: { id: string; holdBeforeLaunch?: boolean },
): Promise<DispatcherProcess> {
  const setup = {
    url: bench.server.url,
    archive: join(bench.directory, 'archive'),
    holdBeforeLaunch: false,
    ...options,
  };
  const child = spawn(
    process.execPath,
    [join(import.meta.dirname, 'dispatcher-process.ts'), JSON.stringify(setup)],
    { stdio: ['pipe', 'pipe', 'inherit'] },
  );
  const exited = once(child, 'exit').then(() => {});
  const words: string[] = [];
  child.stdout.on('data', (chunk) => words.push(...String(chunk).trim().split('\n')));
  child.stdin.on('error', () => {});
  t.after(async () => {
    child.kill('SIGKILL');
    await exited;
  });
  const process_: DispatcherProcess = {
    pid: child.pid ?? -1,
    async says(word) {
      await until(() => words.includes(word), `dispatcher ${options.id} says ${word}`);
      words.splice(words.indexOf(word), 1);
    },
    tell: (word) => void child.stdin.write(`${word}\n`),
    kill: (signal) => void child.kill(signal),
    exited,
  };
  await process_.says('ready');
  return process_;
}

/** Fails unless the events of an attempt stand in the stream once, in order and from the first on. */
export async function assertWholeStream(store: Store, id: string, attempt: number): Promise<number> {
  const entries = await store.read(id, undefined, 100_000);
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
