import { execFile } from 'node:child_process';
import { mkdir, readFile } from 'node:fs/promises';
import { delimiter, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { CliError, EXIT } from 'command-kit/exit';
import { type Guard, startGuard } from './guard.ts';
import { type RayHead, startRayHead } from './ray-head.ts';
import { hasTls } from './ray-release.ts';
import { startRedis } from './redis-server.ts';

const run = promisify(execFile);

const directoryOf = (name: string) => fileURLToPath(new URL(`../../../deploy/${name}`, import.meta.url));

/** The directories of the Python packages, as they lie beside `src` (or `dist`). */
export const PYTHON_PACKAGES = { rayWorker: directoryOf('ray-worker'), capture: directoryOf('capture') };

/** The PYTHONPATH by which Python finds them. */
export const PYTHON_PATH = Object.values(PYTHON_PACKAGES).join(delimiter);

/** The PEM texts of a mutual TLS. */
interface RayTls {
  ca: string;
  cert: string;
  key: string;
}

/** The processes beside the API and the dispatcher on one machine. */
export interface LocalStack {
  /** Options for ioredis. */
  redis: { path: string } | { url: string };
  /** The local Ray, to be added as a cluster; its ray-worker is started by that, as on any other. */
  cluster: {
    name: string;
    rayAddress: string;
    rayToken: string;
    /** Certificates of Ray's own TLS, as PEM; null: it has none. */
    rayTls: RayTls | null;
    sharedRoot: string;
  };
  ray: RayHead;
  /** Resolves with a sentence when a part of the stack has ended by itself. */
  broken: Promise<string>;
}

/**
 * Starts a private Redis (unless `redisUrl` names one) and a local Ray. Every part registers its
 * release with `resources`, in the order in which it was started; a guard releases them where this process is killed.
 */
export async function startLocalStack(options: {
  stateDir: string;
  /** The state directory is removed at the end, by the guard too. */
  temporary?: boolean;
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
  const guard = await startGuard(stateDir);
  resources.defer(() => guard.end());
  if (options.temporary) guard.add({ kind: 'remove', path: stateDir });

  let redis: LocalStack['redis'];
  if (options.redisUrl) {
    redis = { url: options.redisUrl };
  } else {
    progress('starting Redis');
    const own = await startRedis({ directory: join(stateDir, 'redis'), environment, guard });
    resources.defer(() => own.server.stop(10_000));
    broken.push(own.server.ended.then((how) => `Redis ended (${how})`));
    redis = { path: own.socket };
  }

  progress('starting Ray');
  const ray = await startRayHead({
    python: options.python,
    logDirectory: logs,
    environment,
    guard,
  });
  resources.defer(() => ray.stop());
  broken.push(ray.server.ended.then((how) => `Ray ended (${how})`));

  const sharedRoot = join(stateDir, 'cluster');
  resources.defer(stopAttemptsOf({ ray, python: options.python, sharedRoot, guard }));
  const { clientAddress, token: rayToken } = ray;
  const rayAddress = `ray://${clientAddress}`;
  const cluster = { name: CLUSTER, rayAddress, rayToken, rayTls: await tlsOf(environment), sharedRoot };
  return { redis, cluster, ray, broken: Promise.race(broken) };
}

/** The certificates of Ray's own TLS, if its variables turn that on; a {@link CliError} if one of its files cannot be read. */
async function tlsOf(environment: NodeJS.ProcessEnv): Promise<RayTls | null> {
  if (!hasTls(environment)) return null;
  const read = async (variable: string): Promise<string> => {
    const file = environment[variable] ?? '';
    return await readFile(file, 'utf8').catch(() => {
      throw new CliError(
        EXIT.usage,
        `RAY_USE_TLS is set, but the file of ${variable} (${file || 'not set'}) cannot be read.`,
      );
    });
  };
  return {
    ca: await read('RAY_TLS_CA_CERT'),
    cert: await read('RAY_TLS_SERVER_CERT'),
    key: await read('RAY_TLS_SERVER_KEY'),
  };
}

/** Name of the local Ray among the clusters. */
const CLUSTER = 'local';

// Supervisors outlive Ray by design; on one machine, `echelon down` must end them too.
function stopAttemptsOf({
  ray,
  python,
  sharedRoot,
  guard,
}: {
  ray: RayHead;
  python: string;
  sharedRoot: string;
  guard: Guard;
}): () => Promise<void> {
  const args = [
    ...['-m', 'echelon_rayworker.stop', '--state-dir', join(sharedRoot, 'echelon', CLUSTER)],
    ...['--reason', 'Echelon goes down on this machine'],
  ];
  const [environment, timeoutMs] = [{ ...ray.environment, PYTHONPATH: PYTHON_PATH }, 90_000];
  const forget = guard.add({ kind: 'run', command: python, args, environment, timeoutMs });
  return async () => {
    await run(python, args, { env: environment, timeout: timeoutMs });
    forget();
  };
}
