import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { RayChannel } from './channel.ts';
import { CHUNK_BYTES } from './chunks.ts';
import { DataPath } from './data-path.ts';
import { type RayError, RaySessionLostError, RaySessionRefusedError, RayTimeoutError } from './errors.ts';
import { WHOLE_MESSAGE_BYTES } from './exchange.ts';
import { withLimits } from './limits.ts';
import type { RuntimeEnv } from './options.ts';
import { uploadPackage } from './packages.ts';
import { PyCall, PyGlobal } from './pickle/values.ts';
import { writePickle } from './pickle/writer.ts';
import { DATAPATH, type DataResponse } from './protocol.ts';
import { judgeVersion, type VersionTraits } from './version.ts';

const ATTEMPTS = 8;
/** Ray forks a process per session while threads run; now and then that process dies at once, seldom five in a row. */
const START_FAILURE =
  /Starting Ray client server failed|Proxy failed to Connect to backend|ZombieProcess|psutil\.NoSuchProcess/;
const JOB_CONFIG = new PyGlobal('ray.job_config', 'JobConfig.from_json');

/** What a session is started with. */
export interface SessionOptions {
  readonly namespace: string;
  readonly graceMs: number;
  readonly timeoutMs: number;
  /** Applied to the session's own process and to all its tasks and actors. */
  readonly runtimeEnv: RuntimeEnv | undefined;
  /** Zips uploaded before the session starts, so that `runtimeEnv` can name them. */
  readonly packages: readonly Uint8Array[];
  /** Aborting it ends the session that is being started, and rejects with its reason. */
  readonly signal?: AbortSignal | undefined;
}

/** A session that has begun. */
export interface Session {
  readonly clientId: string;
  readonly dataPath: DataPath;
  readonly rayVersion: string;
  readonly pythonVersion: string;
  readonly traits: VersionTraits;
}

/**
 * Starts a session. If its process on the server dies at its start, starts it again under a new id.
 * Throws RaySessionRefusedError with the server's reason, RayTimeoutError, RayVersionError.
 */
export async function startSession(channel: RayChannel, options: SessionOptions): Promise<Session> {
  const { packages, signal } = options;
  for (const zip of packages) await uploadPackage(channel, zip, signal);
  for (let attempt = 1; ; attempt++) {
    try {
      return await startOnce(channel, options);
    } catch (error) {
      signal?.throwIfAborted();
      if (attempt >= ATTEMPTS || !isWorthRepeating(error as RayError)) throw error;
      await sleep(200 * attempt * (1 + Math.random()), undefined, { signal }).catch(() => {
        throw signal?.reason;
      });
    }
  }
}

function isWorthRepeating(error: RayError): boolean {
  if (error instanceof RaySessionRefusedError) return START_FAILURE.test(error.message);
  return error instanceof RaySessionLostError;
}

async function startOnce(channel: RayChannel, options: SessionOptions): Promise<Session> {
  const clientId = randomUUID().replaceAll('-', '');
  let chunkBytes = CHUNK_BYTES;
  const dataPath = new DataPath({
    open: (reconnecting) =>
      channel.stream(DATAPATH, { client_id: clientId, reconnecting: reconnecting ? 'True' : 'False' }),
    ping: (timeoutMs) => channel.ping(timeoutMs),
    graceMs: options.graceMs,
    chunkBytes: () => chunkBytes,
  });
  const { timeoutMs, signal } = options;
  try {
    await withLimits(() => initialise(dataPath, options), { timeoutMs, signal }, 'starting a session');
    dataPath.establish();
    const ask = (): Promise<unknown> => dataPath.ask({ kind: 'info' }).answer;
    const info = (await withLimits(ask, { signal }, 'starting a session')) as DataResponse;
    const rayVersion = info.connection_info?.ray_version ?? '';
    const traits = judgeVersion(rayVersion);
    // Repeating chunks would end the session of an older server: there, large requests go out whole, which
    // can be repeated. Without a grace period nothing is ever repeated.
    if (options.graceMs > 0 && !traits.forgivesRepeatedChunks) chunkBytes = WHOLE_MESSAGE_BYTES;
    return {
      clientId,
      dataPath,
      rayVersion,
      pythonVersion: info.connection_info?.python_version ?? '',
      traits,
    };
  } catch (error) {
    if (error instanceof RayTimeoutError || signal?.aborted) dataPath.abort(error as Error);
    else await dataPath.close();
    throw error;
  }
}

async function initialise(dataPath: DataPath, options: SessionOptions): Promise<void> {
  const init = {
    job_config: encodeJobConfig(options),
    ray_init_kwargs: JSON.stringify({
      namespace: options.namespace,
      log_to_driver: true,
      // Hooks of the server's environment are for its own users, as with Python's client.
      _skip_env_hook: true,
    }),
    reconnect_grace_period: Math.ceil(options.graceMs / 1000),
  };
  const response = (await dataPath.ask({ kind: 'init', init }).answer) as DataResponse;
  if (response.init?.ok === true) return;
  throw new RaySessionRefusedError(`the session was refused: ${(response.init?.msg ?? '').trim()}`);
}

/**
 * The pickled JobConfig: empty (a default one) unless there is a runtime environment, which must reach the
 * session's process itself.
 */
export function encodeJobConfig({
  namespace,
  runtimeEnv,
}: Pick<SessionOptions, 'namespace' | 'runtimeEnv'>): Uint8Array {
  if (runtimeEnv === undefined) return new Uint8Array(0);
  const config = { ray_namespace: namespace, runtime_env: runtimeEnv };
  return writePickle(new PyCall(JOB_CONFIG, config), { code: true });
}
