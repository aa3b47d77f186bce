import { execFile } from 'node:child_process';
import { mkdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { type RayHead, startRayHead } from './ray-head.ts';
import { startRedis } from './redis-server.ts';

const run = promisify(execFile);

/** The Python package of the ray-worker, as it lies beside `src` (or `dist`). */
export const RAY_WORKER_PACKAGE = fileURLToPath(new URL('../../../deploy/ray-worker', import.meta.url));

/** What runs beside the api and the dispatcher on one machine. */
export interface LocalStack {
  /** Options for ioredis. */
  redis: { path: string } | { url: string };
  cluster: { name: string; address: string; token: string };
  ray: RayHead;
  /** Resolves with a sentence when a part of the stack has ended by itself. */
  broken: Promise<string>;
}

/**
 * Starts a private Redis (unless `redisUrl` names one) and a local Ray with its ray-worker. Every part registers its
 * release with `resources`, in the order in which it was started.
 */
export async function startLocalStack(options: {
  stateDir: string;
  redisUrl: string | null;
  python: string;
  environment: NodeJS.ProcessEnv;
  resources: AsyncDisposableStack;
  progress: (text: string) => void;
}): Promise<LocalStack> {
  const { stateDir, resources, progress, environment } = options;
  const logs = join(stateDir, 'logs');
  await mkdir(logs, { recursive: true, mode: 0o700 });
  const broken: Promise<string>[] = [];

  let redis: LocalStack['redis'];
  if (options.redisUrl) {
    redis = { url: options.redisUrl };
  } else {
    progress('starting Redis');
    const own = await startRedis({ directory: join(stateDir, 'redis'), environment });
    resources.defer(() => own.server.stop(10_000));
    broken.push(own.server.ended.then((how) => `Redis ended (${how})`));
    redis = { path: own.socket };
  }

  progress('starting Ray');
  const ray = await startRayHead({
    python: options.python,
    logDirectory: logs,
    pythonPath: RAY_WORKER_PACKAGE,
    environment,
  });
  resources.defer(() => ray.stop());
  broken.push(ray.server.ended.then((how) => `Ray ended (${how})`));

  progress('starting the ray-worker');
  const rayWorker = { ray, python: options.python, stateDir: join(stateDir, 'cluster') };
  const cluster = await startRayWorker(rayWorker);
  resources.defer(() => stopAttempts(cluster.address, rayWorker));
  return { redis, cluster, ray, broken: Promise.race(broken) };
}

interface RayWorkerOptions {
  ray: RayHead;
  python: string;
  stateDir: string;
}

const tokenFile = (stateDir: string): string => join(stateDir, 'token');

async function startRayWorker({ ray, python, stateDir }: RayWorkerOptions): Promise<LocalStack['cluster']> {
  const { stdout } = await run(python, ['-m', 'echelon_rayworker.start', '--state-dir', stateDir], {
    env: ray.environment,
    timeout: 90_000,
  });
  const { address } = JSON.parse(stdout.trim().split('\n').at(-1)!) as { address: string };
  return { name: 'local', address, token: (await readFile(tokenFile(stateDir), 'utf8')).trim() };
}

// Supervisors outlive Ray by design; on one machine, going down must leave nothing behind.
async function stopAttempts(address: string, { ray, python, stateDir }: RayWorkerOptions): Promise<void> {
  const args = ['-m', 'echelon_rayworker.stop', '--address', address, '--token-file', tokenFile(stateDir)];
  await run(python, [...args, '--reason', 'Echelon goes down on this machine'], {
    env: ray.environment,
    timeout: 90_000,
  });
}
