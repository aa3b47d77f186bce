import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type { ExperimentSpec } from 'echelon-client/calls';
import { connect } from 'echelon-client/connect';
import { loadSettings } from '../../src/config/settings.ts';
import { startServices } from '../../src/main.ts';
import { startPythonRayWorker } from './python-ray-worker.ts';
import { type RedisServer, startRedis } from './redis.ts';

/** An installation with real parts: Redis, a ray-worker (without Ray), an api and a dispatcher. */
export interface Installation {
  url: string;
  token: string;
  client: ReturnType<typeof connect>;
  /** For records that no real training writes. */
  redis: RedisServer;
  /** Values that the installation knows as secrets. */
  secrets: string[];
  /** Submits a spec and waits until the experiment has ended and its batches are verified; its id. */
  finished(spec: ExperimentSpec): Promise<string>;
  /** Stops the api and the dispatcher. */
  stopServices(): Promise<void>;
  /** Starts them again, at the same address. */
  startServices(): Promise<void>;
}

/** Starts one; everything is stopped by `resources`. */
export async function startInstallation(resources: AsyncDisposableStack, port = 0): Promise<Installation> {
  const directory = await mkdtemp(join(tmpdir(), 'echelon-dashboard-'));
  resources.defer(() => rm(directory, { recursive: true, force: true }));
  const redis = await startRedis();
  resources.defer(() => redis.stop());
  await mkdir(join(directory, 'worker'));
  const rayWorker = await startPythonRayWorker(join(directory, 'worker'));
  resources.defer(() => rayWorker.stop());
  const { address, token: workerToken } = rayWorker;
  const clusters = [{ name: 'local', address, token: workerToken }];
  const start = async (at: number) =>
    startServices({
      roles: ['api', 'dispatcher'],
      settings: loadSettings({
        REDIS_URL: redis.url,
        ECHELON_STATE_DIR: directory,
        ECHELON_PORT: String(at),
        ECHELON_LOG_LEVEL: 'warn',
      }),
      redis: null,
      clusters,
      logFile: join(directory, 'services.log'),
    });
  let services = await start(port);
  resources.defer(() => services.stop());
  const { url, token } = services as { url: string; token: string };
  const client = connect({ url, token });
  return {
    url,
    token,
    client,
    redis,
    secrets: [token, workerToken],
    async finished(spec) {
      const { id } = await client.post('/v1/experiments', { body: spec });
      for (;;) {
        const { state, reason, verification } = await client.get('/v1/experiments/{id}', { path: { id } });
        if (state === 'failed') throw new Error(`${id} failed: ${reason}`);
        if (state === 'succeeded' && verification.status === 'complete') return id;
        await delay(50);
      }
    },
    stopServices: () => services.stop(),
    async startServices() {
      services = await start(Number(new URL(url).port));
    },
  };
}
