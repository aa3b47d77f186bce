import { setTimeout as delay } from 'node:timers/promises';
import { Queue, Worker } from 'bullmq';
import { newExperimentId } from '../../src/core/ids.ts';
import { startFakeRayWorker } from '../support/fake-ray-worker.ts';
import { startFleet } from './fleet.ts';
import { afterWarmUp, optionsOf, quantile, say, setupOf } from './harness.ts';

/*
 * From the answer 202 to the arrival of the Launch at an idle ray-worker: an api and a dispatcher as processes of their
 * own, over HTTP and gRPC, with a Redis that writes to disk before it answers. Beside it, in turn, what BullMQ alone
 * takes from add to start on the same Redis. A launch that arrives before its 202 does counts as 0 ms.
 */

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
    return {
      p99: quantile(fromAnswer, 0.99),
      sent: quantile(fromSending, 0.99),
      ratio: quantile(fromSending, 0.5) / quantile(bare, 0.5),
    };
  });
  const figure = (what: string, of: keyof (typeof found)[number], unit: string) => ({
    what: `${what} at ${rate}/s`,
    unit,
    values: found.map((one) => one[of]),
  });
  say({ ...figure('202 → Launch received, p99,', 'p99', 'ms'), most: 25 });
  say(figure('request sent → Launch received, p99,', 'sent', 'ms'));
  say(figure("request sent → Launch received, to BullMQ's add → start (medians),", 'ratio', '×'));
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

async function startSystem(resources: AsyncDisposableStack, callers: number) {
  const launches = new Map<string, PromiseWithResolvers<number>>();
  const launchOf = (id: string) => {
    const known = launches.get(id) ?? Promise.withResolvers<number>();
    launches.set(id, known);
    return known;
  };
  const startRayWorker = async (directory: string) => {
    const rayWorker = await startFakeRayWorker({ directory, cpus: 100_000, synced: false });
    resources.defer(() => rayWorker.stop());
    rayWorker.onLaunch = async ({ experiment }) => launchOf(experiment).resolve(performance.now());
    return rayWorker;
  };
  const { redis, tokens, startApi, startDispatcher } = await startFleet(resources, startRayWorker, {
    callers,
  });
  const url = await startApi();
  await startDispatcher();

  const bare = { prefix: '{bare}', skipVersionCheck: true };
  const [adds, receives] = [redis.duplicate(), redis.duplicate()];
  resources.defer(async () => {
    adds.disconnect();
    receives.disconnect();
  });
  const queue = new Queue('bare', { ...bare, connection: adds });
  resources.defer(() => queue.close());
  const started = new Map<string, (at: number) => void>();
  const serving = new Worker('bare', async ({ id }) => started.get(id!)?.(performance.now()), {
    ...bare,
    connection: receives,
    concurrency: 64,
  });
  resources.defer(() => serving.close());

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
