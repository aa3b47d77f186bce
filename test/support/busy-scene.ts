import { newExperimentId } from '../../src/core/ids.ts';
import type { State } from '../../src/core/states.ts';
import { makeChild } from '../../src/plan/sweep.ts';
import { claim } from './claim.ts';
import { gpuSpec, type QueueScene, startQueueScene } from './queue-scene.ts';
import { clusterRecord, submitInput } from './store.ts';
import { expandAll } from './sweep.ts';

/** An installation on a busy day. */
export interface BusyScene extends QueueScene {
  sweep: string;
  /** A running experiment with curves. */
  running: string;
  failed: string;
}

const HOUR = 3_600_000;
const METRICS = ['val/success_rate', 'episode/reward/mean', 'actor/kl_loss', 'actor/entropy_loss'];

/**
 * Starts one with two clusters, a sweep of 12 combinations of 4 seeds, 60 queued experiments and `ended` ended ones;
 * everything is stopped by `resources`.
 */
export async function startBusyScene(resources: AsyncDisposableStack, ended = 5000): Promise<BusyScene> {
  const scene = await startQueueScene(resources);
  const { store, client, redis } = scene;
  await addEnded(scene, ended);
  const farm = { id: 'cpu-1', cpusTotal: 64, gpusTotal: 0, cpusUsed: 0, gpusUsed: 0 };
  await store.clusters.put(clusterRecord({ name: 'farm', address: 'b:1', generation: 'g', nodes: [farm] }));
  const round = async () => {
    await store.clusters.see('farm', { address: 'b:1', nodes: [farm], generation: 'g' });
    await scene.round();
  };
  await round();
  const spec = { engine: 'local', name: undefined, training: { steps: 200 } };
  const axes = {
    estimator: [
      { name: 'hgpo', historyLength: 1 },
      { name: 'hgpo', historyLength: 2 },
      { name: 'gigpo' },
      { name: 'grpo' },
    ],
    'training.learningRate': [0.001, 0.003, 0.01],
    'training.seed': [1, 2, 3, 4],
  };
  const body = { name: 'estimators by learning rate', method: 'grid', spec, axes } as never;
  const { id: sweep } = await client.post('/v1/sweeps', { body });
  const children = await expandAll(store, sweep, makeChild);
  for (const [at, id] of children.slice(0, 36).entries()) await trained(scene, id, at);
  let running = '';
  for (let at = 0; at < 6; at++) {
    const input = {
      name: `hgpo K=2, Qwen2.5 1.5B, seed ${at + 1}`,
      node: at < 4 ? 'gpu-a' : 'gpu-b',
      gpus: 2,
    };
    running = await scene.run({ ...input, timeoutSeconds: 3600 * (at + 2), sinceMs: at * HOUR * 0.7 });
    await measure(scene, running, { steps: 40 + 10 * at, of: 150, seed: at });
    if (at === 2) await redis.hset(`{echelon}:x:${running}`, 'vWrong', 513, 'vErrors', 0);
  }
  await addQueued(scene);
  const failed = await addFailed(scene);
  await round();
  return { ...scene, round, sweep, running, failed };
}

async function addQueued({ client }: QueueScene): Promise<void> {
  for (let at = 0; at < 48; at++) {
    const [gpus, name] =
      at % 3 === 0 ? [4, 'gigpo 7B'] : at % 3 === 1 ? [2, 'grpo 1.5B'] : [8, 'hgpo K=4 7B'];
    const timeoutSeconds = 900 * (1 + (at % 7));
    const body = gpuSpec(`${name}: seed ${at}`, gpus as number, { timeoutSeconds, priority: at % 5 });
    await client.post('/v1/experiments', { body });
  }
}

/** A child of the sweep that has run on the farm: its curve rises faster with a longer history. */
async function trained(scene: QueueScene, id: string, seed: number): Promise<void> {
  const { store, redis } = scene;
  const { version: allocationVersion } = await store.clusters.allocations('farm');
  const on = { cluster: 'farm', nodes: [{ id: 'cpu-1', gpus: 0, cpus: 1 }], allocationVersion };
  const claimed = await claim(store, { experiment: id, ...on, dispatcher: 'd', leaseMs: 600_000 });
  if (claimed.outcome !== 'claimed') throw new Error(`${id}: ${claimed.outcome}`);
  await store.attempts.confirm(claimed.lease);
  await redis.hset(`{echelon}:x:${id}`, 'startedAt', Date.now() - HOUR);
  await measure(scene, id, { steps: 200, of: 200, seed });
  if (seed < 30) await store.attempts.end(claimed.lease, { to: 'succeeded', reason: 'all steps are done' });
  else if (seed === 30) await store.attempts.end(claimed.lease, { to: 'failed', reason: 'exit code 1' });
}

/** Last values, progress and counts of verified rows, as the events of a training leave them; and its curves. */
async function measure(
  { store, redis }: QueueScene,
  id: string,
  { steps, of, seed }: { steps: number; of: number; seed: number },
): Promise<void> {
  const token = (await redis.hget(`{echelon}:x:${id}`, 'token')) ?? '';
  const at = Date.now();
  const valuesOf = (step: number) => {
    const rise = 1 - Math.exp(-(step * (1 + (seed % 12))) / 300);
    const values = [0.9 * rise, 8 * rise - 2, 0.02 + 0.01 * Math.sin(step / 9), 1.2 - rise];
    return Object.fromEntries(
      METRICS.map((name, index) => [name, values[index]! + 0.03 * Math.sin(step * 7 + seed)]),
    );
  };
  const events = Array.from({ length: steps }, (_, step) => ({
    sequence: step + 1,
    at,
    event: { type: 'metrics', step: step + 1, values: valuesOf(step + 1) } as const,
  }));
  for (let first = 0; first < events.length; first += 100)
    await store.events.append({ experiment: id, attempt: 1, token }, events.slice(first, first + 100));
  const counts = {
    vSeen: steps * 512,
    vExact: steps * 500,
    vRounding: steps * 12,
    vBatches: steps,
    vVerified: steps,
  };
  await redis.hset(`{echelon}:x:${id}`, { step: steps, steps: of, ...counts });
}

async function addFailed(scene: QueueScene): Promise<string> {
  const { store, redis } = scene;
  const id = await scene.run({ name: 'hgpo K=4, Qwen2.5 7B', node: 'gpu-b', gpus: 1, sinceMs: HOUR });
  const token = (await redis.hget(`{echelon}:x:${id}`, 'token')) ?? '';
  const lease = { experiment: id, attempt: 1, token };
  const lines = Array.from({ length: 60 }, (_, at) => `step ${at}: loss ${(2 - at / 50).toFixed(4)}`);
  const traceback = [
    'Traceback (most recent call last):',
    '  File "main_hgpo.py", line 214, in train',
    'torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.40 GiB',
  ];
  await store.events.append(lease, [
    { sequence: 1, at: Date.now(), event: { type: 'log', source: 'stdout', cutBytes: 0, lines } },
    { sequence: 2, at: Date.now(), event: { type: 'log', source: 'stderr', cutBytes: 0, lines: traceback } },
    {
      sequence: 3,
      at: Date.now(),
      event: { type: 'log', source: 'stdout', cutBytes: 0, lines: ['shutting down', 'wandb: done'] },
    },
  ]);
  await store.attempts.end(lease, {
    to: 'failed',
    reason: 'the driver ended with exit code 1: CUDA out of memory',
  });
  return id;
}

/** Records of ended experiments; only what lists show is their own. */
async function addEnded({ store, redis }: QueueScene, ended: number): Promise<void> {
  const { id: sample } = await store.experiments.submit(
    submitInput({ resolved: { engine: 'local', estimator: { name: 'hgpo' } }, gpus: 4 }),
  );
  await store.experiments.cancel(sample, '');
  const record = await redis.hgetall(`{echelon}:x:${sample}`);
  const now = Date.now();
  for (let from = 0; from < ended; from += 500) {
    const pipeline = redis.pipeline();
    for (let at = from; at < Math.min(from + 500, ended); at++) {
      const id = newExperimentId();
      const state: State = at % 11 === 0 ? 'failed' : at % 17 === 0 ? 'cancelled' : 'succeeded';
      const endedAt = now - (ended - at) * 240_000;
      const wrong = at % 29 === 0 ? 40 + at : 0;
      pipeline.hset(`{echelon}:x:${id}`, {
        ...record,
        id,
        state,
        name: `${['hgpo', 'gigpo', 'grpo'][at % 3]} baseline ${at}`,
        reason: state === 'failed' ? 'the driver ended with exit code 1' : 'all steps are done',
        submittedAt: endedAt - 2 * HOUR,
        startedAt: endedAt - HOUR - (at % 50) * 60_000,
        endedAt,
        cluster: at % 4 === 0 ? 'farm' : 'fleet',
        gpus: [0, 1, 2, 4, 8][at % 5],
        step: state === 'failed' ? at % 150 : 150,
        steps: 150,
        vSeen: 9000 + wrong,
        vExact: 8800,
        vRounding: 200,
        vWrong: wrong,
      });
      pipeline.hset(
        `{echelon}:x:${id}:metrics`,
        METRICS[0]!,
        ((at * 37) % 1000) / 1000,
        METRICS[2]!,
        (at % 97) / 1000,
      );
      const seq = await redis.incr('{echelon}:seq');
      for (const index of ['all', 'project:default', `state:${state}`, `project-state:${state}:default`])
        pipeline.zadd(`{echelon}:${index}`, seq, id);
    }
    await pipeline.exec();
  }
}
