import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { Queue, Worker } from 'bullmq';
import { Redis } from 'ioredis';
import { newExperimentId } from '../../src/core/ids.ts';
import { createDirectoryArchive } from '../../src/store/archive/archive-directory.ts';
import { createStore } from '../../src/store/store.ts';
import { until } from '../support/dispatch.ts';
import { startFakeRayWorker } from '../support/fake-ray-worker.ts';
import { startRedis } from '../support/redis.ts';
import { clusterRecord } from '../support/store.ts';
import { afterWarmUp, optionsOf, quantile, setupOf, spreadOf } from './harness.ts';

/*
 * From the answer 202 to the arrival of the Launch at an idle ray-worker: an api and a dispatcher as processes of their
 * own, over HTTP and gRPC, with a Redis that writes to disk before it answers. Beside it, in turn, what BullMQ alone
 * takes from add to start on the same Redis. A launch that arrives before its 202 does counts as 0 ms.
 */

const CLI = new URL('../../src/cli/main.ts', import.meta.url).pathname;
const SPEC = { engine: 'local', name: 'bench', estimator: { name: 'hgpo' } };

/** `--rounds N` (3), `--seconds N` of one round (8), `--rate N` submissions a second (50). */
export async function run(args: readonly string[]): Promise<void> {
  const { rounds, seconds, rate } = optionsOf(args, { rounds: 3, seconds: 8, rate: 50 });
  await using resources = new AsyncDisposableStack();
  const system = await startSystem(resources, rounds + 1);
  console.log(system.setup);
  const found = await afterWarmUp(rounds, async (round) => {
    const count = (round === 0 ? 1 : seconds) * rate;
    const bare = await atRate({ count, rate }, system.add);
    const launched = await atRate({ count, rate }, () => system.submit(round));
    const fromAnswer = launched.map(({ answered, launched: at }) => Math.max(0, at - answered));
    const fromSending = launched.map(({ sent: at, launched: end }) => end - at);
    console.log(`round ${round}: 202 → Launch ${inWords(fromAnswer)}`);
    console.log(
      `round ${round}: request sent → Launch ${inWords(fromSending)}; bare BullMQ ${inWords(bare)}`,
    );
    return {
      p99: quantile(fromAnswer, 0.99),
      sent: quantile(fromSending, 0.99),
      ratio: quantile(fromSending, 0.5) / quantile(bare, 0.5),
    };
  });
  const spread = (of: 'p99' | 'sent' | 'ratio') =>
    spreadOf(
      found.map(({ [of]: value }) => value),
      1,
    );
  const at = `at ${rate}/s`;
  console.log(`202 → Launch received ${at}, p99, ms: ${spread('p99')}`);
  console.log(`request sent → Launch received ${at}, p99, ms: ${spread('sent')}`);
  console.log(
    `request sent → Launch received ${at}, ratio to BullMQ's add → start (median): ${spread('ratio')}`,
  );
}

function inWords(ms: readonly number[]): string {
  const [p50, p99, max] = [0.5, 0.99, 1].map((q) => quantile(ms, q).toFixed(1));
  return `p50 ${p50}, p99 ${p99}, most ${max} ms (${ms.length})`;
}

/** Begins one every 1/`rate` seconds, whether or not those before are done; waits for all. */
async function atRate<T>(
  { count, rate }: { count: number; rate: number },
  begin: () => Promise<T>,
): Promise<T[]> {
  const start = performance.now();
  const begun: Promise<T>[] = [];
  for (let index = 0; index < count; index += 1) {
    await delay(Math.max(0, start + (1000 * index) / rate - performance.now()));
    const one = begin();
    one.catch(() => {}); // thrown below once all have begun; unhandled until then, it would end this process before its children
    begun.push(one);
  }
  return await Promise.all(begun);
}

/** `callers`: how many tokens there are, since each may do only so many requests a minute. */
async function startSystem(resources: AsyncDisposableStack, callers: number) {
  const directory = await mkdtemp(join(tmpdir(), 'ech-bench-'));
  resources.defer(() => rm(directory, { recursive: true, force: true }));
  const server = await startRedis({ appendfsync: 'always' });
  resources.defer(() => server.stop());
  const redis = new Redis(server.port, { maxRetriesPerRequest: null });
  resources.defer(() => redis.disconnect());
  const rayWorker = await startFakeRayWorker({ directory, cpus: 100_000, synced: false });
  resources.defer(() => rayWorker.stop());
  const store = createStore({ redis, archive: createDirectoryArchive(join(directory, 'archive')) });
  resources.defer(() => store.close());
  const { address, token } = rayWorker;
  await store.clusters.put(clusterRecord({ name: 'fake', address, token }));
  const tokens = Array.from({ length: callers }, (_, caller) => `token-of-the-bench-0123456789-${caller}`);
  const environment = {
    ...process.env,
    REDIS_URL: server.url,
    ECHELON_STATE_DIR: directory,
    ECHELON_TOKENS: tokens.join(),
    ECHELON_PORT: '0',
    ECHELON_ALLOW_UNFIT_REDIS: 'true',
    ECHELON_LOG_LEVEL: 'warn',
  };
  const url = await startRole(resources, 'api', { environment, ready: /listening on (\S+)/ });
  await startRole(resources, 'dispatcher', { environment, ready: /(dispatching)/ });

  const launches = new Map<string, PromiseWithResolvers<number>>();
  const launchOf = (id: string) => {
    const known = launches.get(id) ?? Promise.withResolvers<number>();
    launches.set(id, known);
    return known;
  };
  rayWorker.onLaunch = async ({ experiment }) => launchOf(experiment).resolve(performance.now());

  const bare = { prefix: '{bare}', skipVersionCheck: true };
  const [adds, receives] = [redis.duplicate(), redis.duplicate()];
  resources.defer(() => adds.disconnect());
  resources.defer(() => receives.disconnect());
  const queue = new Queue('bare', { ...bare, connection: adds });
  resources.defer(() => queue.close());
  const started = new Map<string, (at: number) => void>();
  const serving = new Worker('bare', async ({ id }) => started.get(id!)?.(performance.now()), {
    ...bare,
    connection: receives,
    concurrency: 64,
  });
  resources.defer(() => serving.close());
  await until(async () => (await store.clusters.list())[0]?.nodes.length, 'the cluster is seen');

  return {
    setup: await setupOf(redis),
    /** Times of one submission, by `performance.now`. */
    async submit(caller: number) {
      const sent = performance.now();
      const response = await fetch(`${url}/v1/experiments`, {
        method: 'POST',
        headers: { authorization: `Bearer ${tokens[caller]}`, 'content-type': 'application/json' },
        body: JSON.stringify(SPEC),
      });
      const answered = performance.now();
      const { id } = (await response.json()) as { id: string };
      if (response.status !== 202) throw new Error(`a submission was answered ${response.status}`);
      return { sent, answered, launched: await launchOf(id).promise };
    },
    /** Milliseconds from add to start of one job. */
    async add(): Promise<number> {
      const id = newExperimentId();
      const { promise, resolve } = Promise.withResolvers<number>();
      started.set(id, resolve);
      const at = performance.now();
      await queue.add('experiment', {}, { jobId: id, removeOnComplete: true });
      return (await promise) - at;
    },
  };
}

/** Starts a role as users do, ended by `resources`; gives what `ready` found in its messages. */
async function startRole(
  resources: AsyncDisposableStack,
  role: 'api' | 'dispatcher',
  { environment, ready }: { environment: NodeJS.ProcessEnv; ready: RegExp },
): Promise<string> {
  const child: ChildProcess = spawn(process.execPath, [CLI, role], {
    env: environment,
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  const ended = once(child, 'exit');
  resources.defer(async () => {
    child.kill('SIGKILL');
    await ended;
  });
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  let said = '';
  child.stderr!.setEncoding('utf8').on('data', (text: string) => {
    said += text;
    const found = ready.exec(said);
    if (found) resolve(found[1]!);
  });
  void ended.then(() => reject(new Error(`the ${role} has ended: ${said}`)));
  return await promise;
}
