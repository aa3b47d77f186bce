import { execFile } from 'node:child_process';
import { cpus } from 'node:os';
import { promisify } from 'node:util';
import { CREATE } from '../../src/http/server/policy.ts';
import { until } from '../support/dispatch.ts';
import { startDurableApi, TOKEN } from './durable-api.ts';
import { afterWarmUp, cpuClock, optionsOf, say } from './harness.ts';
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
    report(rounds, options);
  } finally {
    await service.stop();
  }
}

function report(rounds: readonly Round[], { connections, rate }: { connections: number; rate: number }) {
  const figure = (what: string, unit: string, of: (round: Round) => number) => ({
    what,
    unit,
    values: rounds.map(of),
  });
  const to = (other: 'noop' | 'health') => (round: Round) => round.submit.rate / round[other].rate;
  const at = `at ${connections} connections`;
  say({
    ...figure(`submissions ${at}, of a checked request that does nothing`, '×', to('noop')),
    least: 0.4,
  });
  say(figure(`submissions ${at}, of a health check`, '×', to('health')));
  say(figure(`submissions ${at}`, '/s', ({ submit }) => submit.rate));
  say({ ...figure(`a submission ${at}, p99`, 'ms', ({ submit }) => submit.p99), most: 25 });
  say(figure(`the request that does nothing ${at}, p99`, 'ms', ({ noop }) => noop.p99));
  say(figure(`a submission at ${rate} a second, p99`, 'ms', ({ paced }) => paced.p99));
  // CPU time does not depend on the other users of the machine as much as time by the clock does.
  say(figure('CPU time of the api for the request that does nothing', 'µs', ({ noop }) => noop.apiUs));
  say(figure('… for a submission beyond that', 'µs', ({ unqueued, noop }) => unqueued.apiUs - noop.apiUs));
  say(figure('… for its job', 'µs', ({ submit, unqueued }) => submit.apiUs - unqueued.apiUs));
  say(figure('CPU time of Redis for a submission', 'µs', ({ unqueued }) => unqueued.redisUs));
  say(figure('… for its job', 'µs', ({ submit, unqueued }) => submit.redisUs - unqueued.redisUs));
  say(figure('CPU time of the load for a submission', 'µs', ({ submit }) => submit.loadUs));
  say(
    figure(
      'bytes of the append-only file for a submission and its job',
      'B',
      ({ submit }) => submit.fileBytes,
    ),
  );
  say(figure('memory of Redis for a submission and its job', 'B', ({ submit }) => submit.memoryBytes));
  const busy = ({ submit }: Round) => (submit.rate * (submit.apiUs + submit.redisUs + submit.loadUs)) / 1e6;
  say(figure('cores in use during submissions', `of ${cpus().length}`, busy));
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
  const rewritten = async () =>
    !/aof_rewrite_(?:in_progress|scheduled):1/.test(await redis.info('persistence'));
  // A rewrite of the file takes a core that the server and its load need here. What depth costs is measured elsewhere.
  await redis.config('SET', 'auto-aof-rewrite-percentage', '0');
  const empty = async () => {
    await redis.flushall();
    await redis.bgrewriteaof();
    await until(rewritten, 'the file is rewritten', { seconds: 60 });
  };
  const isQueued = async () => (await queue.counts()).delayed === (await store.experiments.counts()).queued;
  return {
    ...api,
    url: await api.listen(),
    /** What one load gets and costs on an empty store. Without `jobs`, experiments get none. */
    async sample(load: LoadSettings, { jobs = true } = {}): Promise<Sample> {
      await empty();
      queue.enqueue = jobs ? enqueue : async () => {};
      const [before, cpu] = [await info(), cpuClock()];
      const figures = await loadOf(load);
      if (jobs) await until(isQueued, 'every experiment has its job', { seconds: 60 });
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
