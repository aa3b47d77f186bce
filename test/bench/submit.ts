import { execFile } from 'node:child_process';
import { cpus } from 'node:os';
import { setTimeout as pause } from 'node:timers/promises';
import { promisify } from 'node:util';
import { CREATE } from '../../src/http/server/policy.ts';
import { startDurableApi, TOKEN } from './durable-api.ts';
import { afterWarmUp, cpuClock, optionsOf, spreadOf } from './harness.ts';
import type { LoadFigures, LoadSettings } from './submit-load.ts';

/*
 * A durable submission against a route of the same server that takes the same request (token, limits, key, body that is
 * checked) and does nothing, and against a health check, which takes nothing. Redis writes to disk before it answers;
 * the arms take turns, each round on an empty store, and what is said is a ratio. The load comes from a process of its
 * own: as much as the connections carry, where each request waits for all the others, and a steady rate below that.
 * In one arm, experiments get no jobs: the differences of CPU time between the arms are the costs of the parts.
 */

const NOOP = '/v1/noop';
const SUBMIT = '/v1/experiments';

/** An arm: the answers of its load, and what each answer cost. */
interface Sample extends LoadFigures {
  /** CPU time of the api and of Redis for each answer (µs), and bytes of the file and of memory. */
  apiUs: number;
  redisUs: number;
  fileBytes: number;
  memoryBytes: number;
}

type Round = Record<'health' | 'noop' | 'unqueued' | 'submit' | 'paced', Sample>;

/** `--rounds N` (7), `--seconds N` of one arm (4), `--connections N` (50), `--rate N` of the evenly spread arm (1000). */
export async function run(args: readonly string[]): Promise<void> {
  const options = optionsOf(args, { rounds: 7, seconds: 4, connections: 50, rate: 1000 });
  const { seconds, connections } = options;
  const service = await startService();
  const load = { url: service.url, token: TOKEN, seconds, connections };
  try {
    console.log(service.setup);
    const rounds = await afterWarmUp(
      options.rounds,
      async (): Promise<Round> => ({
        health: await service.sample({ ...load, path: '/healthz' }),
        noop: await service.sample({ ...load, path: NOOP }),
        unqueued: await service.sample({ ...load, path: SUBMIT }, { jobs: false }),
        submit: await service.sample({ ...load, path: SUBMIT }),
        paced: await service.sample({ ...load, path: SUBMIT, rate: options.rate }),
      }),
    );
    reportSpeed(rounds, options);
    reportCosts(rounds);
  } finally {
    await service.stop();
  }
}

function reportSpeed(rounds: readonly Round[], { connections, rate }: { connections: number; rate: number }) {
  const ratioTo = (arm: 'noop' | 'health') =>
    spreadOf(
      rounds.map(({ submit, [arm]: other }) => submit.rate / other.rate),
      2,
    );
  const p99Of = (arm: keyof Round) =>
    spreadOf(
      rounds.map((round) => round[arm].p99),
      1,
    );
  const rates = rounds.map(({ submit }) => submit.rate);
  console.log(
    `durable submissions, ${connections} connections, ratio to a no-op: ${ratioTo('noop')}; to a health check: ${ratioTo('health')}`,
  );
  console.log(
    `p99 of a submission, ms: ${p99Of('submit')}; of a no-op: ${p99Of('noop')}; submissions/s: ${spreadOf(rates, 0)}`,
  );
  console.log(`p99 of a submission at ${rate} a second, ms: ${p99Of('paced')}`);
}

/** CPU time does not depend on the other users of the machine as much as time by the clock does. */
function reportCosts(rounds: readonly Round[]): void {
  const median = (of: (round: Round) => number, figures = 0) => spreadOf(rounds.map(of), figures);
  console.log(`CPU time of the api for a no-op, µs: ${median(({ noop }) => noop.apiUs)}`);
  console.log(
    `  for a submission beyond that: ${median(({ unqueued, noop }) => unqueued.apiUs - noop.apiUs)}`,
  );
  console.log(`  for its job: ${median(({ submit, unqueued }) => submit.apiUs - unqueued.apiUs)}`);
  console.log(`CPU time of Redis for a submission, µs: ${median(({ unqueued }) => unqueued.redisUs)}`);
  console.log(`  for its job: ${median(({ submit, unqueued }) => submit.redisUs - unqueued.redisUs)}`);
  console.log(`CPU time of the load for a submission, µs: ${median(({ submit }) => submit.loadUs)}`);
  console.log(
    `a submission and its job: ${median(({ submit }) => submit.fileBytes)} bytes of the file, ${median(({ submit }) => submit.memoryBytes)} of memory`,
  );
  const busy = ({ submit }: Round) => (submit.rate * (submit.apiUs + submit.redisUs + submit.loadUs)) / 1e6;
  console.log(
    `cores that the api, Redis and the load use during submissions: ${median(busy, 2)} of ${cpus().length}`,
  );
}

async function loadOf(settings: LoadSettings): Promise<LoadFigures> {
  const program = new URL('submit-load.ts', import.meta.url).pathname;
  const { stdout } = await promisify(execFile)(process.execPath, [program, JSON.stringify(settings)]);
  const figures = JSON.parse(stdout) as LoadFigures;
  if (figures.refused > 0)
    throw new Error(`${settings.path}: ${figures.refused} requests were refused or failed`);
  return figures;
}

async function startService() {
  const { app, redis, store, queue, ...api } = await startDurableApi();
  app.post(
    NOOP,
    {
      config: { policy: { ...CREATE, audit: false, idempotency: 'own', timeout: 'store' } },
      schema: { hide: true, body: { $ref: 'ExperimentSpec#' } },
    },
    async (_request, reply) => reply.code(202).send({ id: '', self: '', events: '' }),
  );
  const { enqueue } = queue;
  const info = async () => {
    const text = await redis.info('everything');
    const figure = (name: string) => Number(new RegExp(`^${name}:(.*)`, 'm').exec(text)?.[1]);
    return {
      redisUs: 1e6 * (figure('used_cpu_user') + figure('used_cpu_sys')),
      fileBytes: figure('aof_current_size'),
      memoryBytes: figure('used_memory'),
    };
  };
  const rewritten = async () => {
    while (/aof_rewrite_(?:in_progress|scheduled):1/.test(await redis.info('persistence'))) await pause(50);
  };
  // A rewrite of the file takes a core that the server and its load need here. What depth costs is measured elsewhere.
  await redis.config('SET', 'auto-aof-rewrite-percentage', '0');
  const empty = async () => {
    await redis.flushall();
    await redis.bgrewriteaof();
    await rewritten();
  };
  const everyJob = async () => {
    while ((await queue.counts()).delayed !== (await store.experiments.counts()).queued) await pause(10);
  };
  return {
    ...api,
    url: await api.listen(),
    /** What one load gets and costs on an empty store. Without `jobs`, experiments get none. */
    async sample(load: LoadSettings, { jobs = true } = {}): Promise<Sample> {
      await empty();
      queue.enqueue = jobs ? enqueue : async () => {};
      const [before, cpu] = [await info(), cpuClock()];
      const figures = await loadOf(load);
      if (jobs) await everyJob();
      const apiUs = cpu() / figures.answers;
      const after = await info();
      const each = (name: keyof typeof after) => (after[name] - before[name]) / figures.answers;
      return {
        ...figures,
        apiUs,
        redisUs: each('redisUs'),
        fileBytes: each('fileBytes'),
        memoryBytes: each('memoryBytes'),
      };
    },
  };
}
