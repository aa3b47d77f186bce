import type { Redis } from 'ioredis';
import { newSweepId } from '../../src/core/ids.ts';
import { advanceSweeps } from '../../src/dispatch/background/sweeps.ts';
import { draftSweep, makeChild } from '../../src/plan/sweep.ts';
import type { SweepRequest } from '../../src/schemas/sweep.ts';
import { startDurableApi, TOKEN } from './durable-api.ts';
import { afterWarmUp, optionsOf, spreadOf, timed } from './harness.ts';

/*
 * One sweep against as many single submissions, over HTTP, on one server and one Redis that writes every answer to
 * disk first, the arms in turn: what is said is a ratio. Times are information about the machine, never to be compared
 * with those of another.
 */

/** `--children N` of a sweep (1000), `--rounds N` (5), `--connections N` of the second arm (50). */
export async function run(args: readonly string[]): Promise<void> {
  const { children, rounds, connections } = optionsOf(args, {
    children: 1000,
    rounds: 5,
    connections: 50,
  });
  const service = await startService();
  try {
    console.log(service.setup);
    const found = await afterWarmUp(rounds, async () => {
      const sweep = await timed(() => service.post('/v1/sweeps', sweepOf(children)));
      const expansion = await timed(service.expand);
      const one = await timed(() => service.submitAll(children, 1));
      const many = await timed(() => service.submitAll(children, connections));
      return {
        'POST of the sweep': sweep,
        'and until every child is in the queue': sweep + expansion,
        'single submissions, one after another': one,
        [`single submissions, ${connections} at a time`]: many,
      } as Record<string, number>;
    });
    const arms = Object.keys(found[0]!);
    report(Object.fromEntries(arms.map((arm) => [arm, found.map(({ [arm]: ms }) => ms!)])), children);
    const { cpuMs, longestMs, steps } = await service.expansionCost(children);
    console.log(
      `expansion: ${(cpuMs / steps).toFixed(1)} ms of the server's CPU for each of ${steps} steps; ` +
        `longest command by the clock on the wall ${longestMs.toFixed(1)} ms`,
    );
  } finally {
    await service.stop();
  }
}

function report(times: Record<string, number[]>, children: number): void {
  const [sweep, whole, ...arms] = Object.entries(times);
  for (const [name, ms] of Object.entries(times)) {
    console.log(`${name}, ${children} experiments, ms: ${spreadOf(ms, 1)}`);
  }
  for (const [name, ms] of arms) {
    for (const [what, of] of [sweep!, whole!]) {
      const ratio = ms.map((time, at) => time / of[at]!);
      console.log(`ratio ${name} / ${what}: ${spreadOf(ratio, 1)}`);
    }
  }
}

function sweepOf(children: number): SweepRequest {
  const seeds = Array.from({ length: Math.ceil(children / 2) }, (_seed, at) => at);
  return {
    name: 'bench',
    method: 'grid',
    spec: { engine: 'local' },
    axes: { estimator: [{ name: 'hgpo' }, { name: 'grpo' }], 'training.seed': seeds },
  };
}

async function startService() {
  const { store, queue, log, redis, ...api } = await startDurableApi();
  const url = await api.listen();

  async function post(path: string, body: unknown): Promise<void> {
    const response = await fetch(`${url}${path}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${TOKEN}`, 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
    const answer = await response.text();
    if (response.status !== 202) throw new Error(`${response.status}: ${answer}`);
  }

  return {
    ...api,
    post,
    expand: () => advanceSweeps({ store, queue, log }),
    async submitAll(count: number, connections: number): Promise<void> {
      let next = 0;
      const client = async () => {
        while (next < count) {
          const seed = next++;
          const estimator = { name: seed % 2 ? 'hgpo' : 'grpo' };
          await post('/v1/experiments', { engine: 'local', name: 'bench', estimator, training: { seed } });
        }
      };
      await Promise.all(Array.from({ length: connections }, client));
    },
    /** Of one more sweep. What blocks others is the CPU time; the wall also shows what else the machine does. */
    async expansionCost(children: number): Promise<{ cpuMs: number; longestMs: number; steps: number }> {
      const draft = draftSweep(sweepOf(children));
      const id = newSweepId();
      await redis.config('SET', 'slowlog-log-slower-than', '500');
      await redis.call('SLOWLOG', 'RESET');
      await store.sweeps.create({
        id,
        project: 'default',
        name: 'bench',
        method: 'grid',
        seed: null,
        spec: draft.spec,
        axes: draft.axes,
        entries: draft.entries,
        fingerprints: draft.entries.map(() => null),
      });
      const before = await cpuOf(redis);
      let steps = 0;
      for (let more = true; more; steps += 1) more = (await store.sweeps.expand(id, makeChild)).more;
      const cpuMs = (await cpuOf(redis)) - before;
      const slow = (await redis.call('SLOWLOG', 'GET', '-1')) as [number, number, number, string[]][];
      const longestMs = Math.max(0, ...slow.map(([, , microseconds]) => microseconds)) / 1000;
      return { cpuMs, longestMs, steps };
    },
  };
}

/** CPU time of the server's main thread so far, ms. */
async function cpuOf(redis: Redis): Promise<number> {
  return 1000 * Number(/used_cpu_user_main_thread:(\S+)/.exec(await redis.info('cpu'))?.[1]);
}
