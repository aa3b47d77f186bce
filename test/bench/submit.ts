import { execFile } from 'node:child_process';
import { cpus } from 'node:os';
import { setTimeout as pause } from 'node:timers/promises';
import { parseArgs, promisify } from 'node:util';
import { Redis } from 'ioredis';
import { pino } from 'pino';
import { createApp } from '../../src/http/app.ts';
import type { AppDeps } from '../../src/http/deps.ts';
import { createLine } from '../../src/queue/line.ts';
import { createStore } from '../../src/store/create-store.ts';
import { startRedis } from '../support/redis.ts';

/*
 * A durable submission against a route of the same server that takes the same request (token, limits, key, body that is
 * checked) and does nothing, and against a health check, which takes nothing. Redis writes to disk before it answers;
 * the arms take turns, each round on an empty store, and what is said is a ratio. The load comes from a process of its own (autocannon).
 */

const NOOP = '/v1/noop';

const TOKEN = 'token-of-the-bench-0123456789';

/** `--rounds N` (7), `--seconds N` of one arm (4), `--connections N` (50). */
export async function run(args: readonly string[]): Promise<void> {
  const { values } = parseArgs({
    args: [...args],
    options: {
      rounds: { type: 'string', default: '7' },
      seconds: { type: 'string', default: '4' },
      connections: { type: 'string', default: '50' },
    },
  });
  const load = { seconds: values.seconds, connections: values.connections };
  const service = await startService();
  const samples: { submit: Load; noop: Load; health: Load }[] = [];
  try {
    console.log(`node ${process.version}, redis ${service.redisVersion}, ${cpus().length} cores`);
    for (let round = -1; round < Number(values.rounds); round += 1) {
      await service.empty();
      const health = await loadOf({ url: service.url, path: '/healthz' }, load);
      const noop = await loadOf({ url: service.url, path: NOOP }, load);
      const submit = await loadOf({ url: service.url, path: '/v1/experiments' }, load);
      if (round >= 0) samples.push({ submit, noop, health }); // the first warms the arms
    }
  } finally {
    await service.stop();
  }
  const ratios = samples.map(({ submit, noop }) => submit.rate / noop.rate);
  const toHealth = samples.map(({ submit, health }) => submit.rate / health.rate);
  const p99 = samples.map(({ submit }) => submit.p99);
  const noopP99 = samples.map(({ noop }) => noop.p99);
  const rate = samples.map(({ submit }) => submit.rate);
  console.log(
    `durable submissions, ${values.connections} connections, ratio to a no-op: ${shown(ratios, 2)}; to a health check: ${shown(toHealth, 2)}`,
  );
  console.log(
    `p99 of a submission, ms: ${shown(p99, 1)}; of a no-op: ${shown(noopP99, 1)}; submissions/s: ${shown(rate, 0)}`,
  );
}

interface Load {
  rate: number;
  p99: number;
}

async function loadOf(
  { url, path }: { url: string; path: string },
  { seconds, connections }: { seconds: string; connections: string },
): Promise<Load> {
  const program = new URL('submit-load.ts', import.meta.url).pathname;
  const { stdout } = await promisify(execFile)(process.execPath, [
    ...[program, url, path, seconds, connections, TOKEN],
  ]);
  const { refused, ...load } = JSON.parse(stdout) as Load & { refused: number };
  if (refused > 0) throw new Error(`${path}: ${refused} requests were refused or failed`);
  return load;
}

async function startService() {
  const server = await startRedis({ appendfsync: 'always' });
  const redis = new Redis(server.port, { maxRetriesPerRequest: null });
  const archive = { put: unexpected, get: unexpected, remove: unexpected };
  const store = createStore({ redis, archive, limits: { waitingOfProject: 10_000_000 } });
  const line = createLine({ redis, prefix: '{echelon}', onError: () => {} });
  const app = await createApp({
    ...{ store, line, clock: Date, log: pino({ level: 'silent' }) },
    ...{
      verifier: { explain: async () => ({}), bundle: async () => new Uint8Array() },
      commands: { send: async () => {} },
    },
    settings: {
      ...{ version: '0', publicUrl: 'http://127.0.0.1', allowedHosts: ['127.0.0.1'], tokens: [TOKEN] },
      ...{ cookieSecret: 'x'.repeat(32), limits: { requests: 100_000_000 } },
    },
  } as AppDeps);
  app.post(
    NOOP,
    {
      config: { idempotency: 'none', quick: true },
      schema: { hide: true, body: { $ref: 'ExperimentSpec#' } },
    },
    async (_request, reply) => reply.code(202).send({ id: '', self: '', events: '' }),
  );
  return {
    redisVersion: /redis_version:(\S+)/.exec(await redis.info('server'))?.[1],
    url: await app.listen({ host: '127.0.0.1', port: 0 }),
    /**
     * What depth costs is measured elsewhere; and from 64 MB on Redis rewrites its file beside its work, on a core that the
     * server and its load need here.
     */
    async empty() {
      await redis.flushall();
      await redis.bgrewriteaof();
      while (/aof_rewrite_(?:in_progress|scheduled):1/.test(await redis.info('persistence'))) await pause(50);
    },
    async stop() {
      await app.close();
      await line.close();
      await store.close();
      redis.disconnect();
      await server.stop();
    },
  };
}

async function unexpected(): Promise<never> {
  throw new Error('nothing here is long');
}

function shown(values: readonly number[], figures: number): string {
  const sorted = values.toSorted((a, b) => a - b);
  const [least, middle, most] = [0, Math.floor(sorted.length / 2), sorted.length - 1].map((at) =>
    sorted[at]!.toFixed(figures),
  );
  return `median ${middle} (${least}–${most}, ${values.length} rounds)`;
}

if (import.meta.main) await run(process.argv.slice(2));
