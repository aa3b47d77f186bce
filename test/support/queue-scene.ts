import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { ExperimentSpec } from 'echelon-client/calls';
import { connect } from 'echelon-client/connect';
import type { Redis } from 'ioredis';
import { loadSettings } from '../../src/config/settings.ts';
import { createRoundDecider } from '../../src/dispatch/placement/round-decision.ts';
import { createWaitNotes } from '../../src/dispatch/placement/wait-notes.ts';
import { startServices } from '../../src/main.ts';
import type { Store } from '../../src/store/store.ts';
import { claim } from './claim.ts';
import { redisFor } from './redis.ts';
import { clusterRecord, storeFor, submitInput } from './store.ts';

/** An api whose cluster has GPUs, running experiments with expected ends, and a queue. No dispatcher changes it. */
export interface QueueScene {
  url: string;
  token: string;
  client: ReturnType<typeof connect>;
  store: Store;
  redis: Redis;
  /**
   * Runs an experiment on a node since some time. Its timeout, if it has one, says when it ends at the latest. Returns its
   * id.
   */
  run(input: {
    name: string;
    node: string;
    gpus: number;
    timeoutSeconds?: number;
    sinceMs?: number;
  }): Promise<string>;
  /** Reports the cluster's nodes, and writes wait reasons and estimates as a dispatcher does. */
  round(): Promise<void>;
}

/** A spec that needs this many GPUs of one node, for as long as its timeout. */
export function gpuSpec(
  name: string,
  gpus: number,
  more: { priority?: number; timeoutSeconds?: number; project?: string } = {},
): ExperimentSpec {
  const recipe = 'qwen2.5_1.5b_alfworld_train' as const;
  return { engine: 'verl-agent', name, recipe, resources: { gpus }, ...more } as ExperimentSpec;
}

/** Starts one with two nodes of 8 GPUs; everything is stopped by `resources`. */
export async function startQueueScene(resources: AsyncDisposableStack): Promise<QueueScene> {
  const scope = { after: (release: () => Promise<void>) => void resources.defer(release) };
  const server = await redisFor(scope);
  const { store, redis } = await storeFor(scope, { server });
  const directory = await mkdtemp(join(tmpdir(), 'echelon-queue-'));
  resources.defer(() => rm(directory, { recursive: true, force: true }));
  const services = await startServices({
    roles: ['api'],
    redis: null,
    clusters: [],
    logFile: join(directory, 'api.log'),
    settings: loadSettings({ REDIS_URL: server.url, ECHELON_STATE_DIR: directory, ECHELON_PORT: '0' }),
  });
  resources.defer(() => services.stop());
  const { url, token } = services as { url: string; token: string };
  const nodes = ['gpu-a', 'gpu-b'].map((id) => ({
    id,
    cpusTotal: 96,
    gpusTotal: 8,
    cpusUsed: 0,
    gpusUsed: 0,
  }));
  await store.clusters.put(
    clusterRecord({ name: 'fleet', address: 'a:1', backfill: true, generation: 'g', nodes }),
  );
  const decide = createRoundDecider({ store, elapsed: () => performance.now() });
  return {
    url,
    token,
    client: connect({ url, token }),
    store,
    redis,
    async run({ name, node, gpus, timeoutSeconds, sinceMs = 0 }) {
      const resolved = { engine: 'verl-agent', ...(timeoutSeconds && { timeoutSeconds }) };
      const { id } = await store.experiments.submit(submitInput({ name, gpus, cpus: 32, resolved }));
      const { version: allocationVersion } = await store.clusters.allocations('fleet');
      const on = { cluster: 'fleet', nodes: [{ id: node, gpus, cpus: 32 }], allocationVersion };
      const claimed = await claim(store, { experiment: id, ...on, dispatcher: 'd', leaseMs: 600_000 });
      if (claimed.outcome !== 'claimed') throw new Error(`${name} was not claimed: ${claimed.outcome}`);
      await store.attempts.confirm(claimed.lease);
      await redis.hset(`{echelon}:x:${id}`, 'startedAt', Date.now() - sinceMs);
      return id;
    },
    async round() {
      await store.clusters.see('fleet', { address: 'a:1', nodes, generation: 'g' });
      await createWaitNotes({ store, elapsed: () => performance.now() })(await decide());
    },
  };
}
