import { execFile } from 'node:child_process';
import { cpus } from 'node:os';
import { setTimeout as pause } from 'node:timers/promises';
import { parseArgs, promisify } from 'node:util';
import { CREATE } from '../../src/http/server/policy.ts';
import { startDurableApi, TOKEN } from './durable-api.ts';
import { spreadOf } from './rounds.ts';
import type { LoadFigures, LoadSettings } from './submit-load.ts';

/*
 * A durable submission against a route of the same server that takes the same request (token, limits, key, body that is
 * checked) and does nothing, and against a health check, which takes nothing. Redis writes to disk before it answers;
 * the arms take turns, each round on an empty store, and what is said is a ratio. The load comes from a process of its
 * own: as much as the connections carry, where each request waits for all the others, and a steady rate below that.
 */

const NOOP = '/v1/noop';
const SUBMIT = '/v1/experiments';

/** `--rounds N` (7), `--seconds N` of one arm (4), `--connections N` (50), `--rate N` of the evenly spread arm (1000). */
export async function run(args: readonly string[]): Promise<void> {
  const { values } = parseArgs({
    args: [...args],
    options: {
      rounds: { type: 'string', default: '7' },
      seconds: { type: 'string', default: '4' },
      connections: { type: 'string', default: '50' },
      rate: { type: 'string', default: '1000' },
    },
  });
  const service = await startService();
  const load = {
    ...{ url: service.url, token: TOKEN },
    ...{ seconds: Number(values.seconds), connections: Number(values.connections) },
  };
  const samples: Record<'submit' | 'noop' | 'health' | 'paced', LoadFigures>[] = [];
  try {
    console.log(`node ${process.version}, redis ${service.redisVersion}, ${cpus().length} cores`);
    for (let round = -1; round < Number(values.rounds); round += 1) {
      await service.empty();
      const health = await loadOf({ ...load, path: '/healthz' });
      const noop = await loadOf({ ...load, path: NOOP });
      const submit = await loadOf({ ...load, path: SUBMIT });
      await service.empty();
      const paced = await loadOf({ ...load, path: SUBMIT, rate: Number(values.rate) });
      if (round >= 0) samples.push({ submit, noop, health, paced }); // the first warms the arms
    }
  } finally {
    await service.stop();
  }
  const ratioTo = (arm: 'noop' | 'health') => samples.map((round) => round.submit.rate / round[arm].rate);
  const p99Of = (arm: 'submit' | 'noop' | 'paced') =>
    spreadOf(
      samples.map((round) => round[arm].p99),
      1,
    );
  const rates = samples.map(({ submit }) => submit.rate);
  console.log(
    `durable submissions, ${values.connections} connections, ratio to a no-op: ${spreadOf(ratioTo('noop'), 2)}; to a health check: ${spreadOf(ratioTo('health'), 2)}`,
  );
  console.log(
    `p99 of a submission, ms: ${p99Of('submit')}; of a no-op: ${p99Of('noop')}; submissions/s: ${spreadOf(rates, 0)}`,
  );
  console.log(`p99 of a submission at ${values.rate} a second, ms: ${p99Of('paced')}`);
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
  const { app, redis, ...api } = await startDurableApi();
  app.post(
    NOOP,
    {
      config: { policy: { ...CREATE, audit: false, idempotency: 'own', timeout: 'store' } },
      schema: { hide: true, body: { $ref: 'ExperimentSpec#' } },
    },
    async (_request, reply) => reply.code(202).send({ id: '', self: '', events: '' }),
  );
  const rewritten = async () => {
    while (/aof_rewrite_(?:in_progress|scheduled):1/.test(await redis.info('persistence'))) await pause(50);
  };
  return {
    ...api,
    url: await api.listen(),
    /**
     * What depth costs is measured elsewhere; and from 64 MB on Redis rewrites its file beside its work, on a core that the
     * server and its load need here.
     */
    async empty() {
      await rewritten();
      await redis.flushall();
      await redis.bgrewriteaof();
      await rewritten();
    },
  };
}

if (import.meta.main) await run(process.argv.slice(2));
