import { parseAddress } from './address.ts';
import { createChannel, type RayChannel } from './channel.ts';
import { createCluster } from './cluster.ts';
import { functionRef } from './code.ts';
import type { CloseReason, RayConnection } from './connection.ts';
import type { RayCredentials } from './credentials.ts';
import type { DataPath } from './data-path.ts';
import { RayAuthenticationError, RayClosedError, RaySessionRefusedError } from './errors.ts';
import { createIdempotency, createKv, type Idempotency } from './kv.ts';
import { type CallLimits, withLimits } from './limits.ts';
import { createLogStream } from './log-stream.ts';
import type { RuntimeEnv } from './options.ts';
import { uploadPackage } from './packages.ts';
import { createPlacementGroups } from './placement-groups.ts';
import { type TerminateRequest, UNARY } from './protocol.ts';
import { Remote } from './remote.ts';
import { type Session, startSession } from './session.ts';
import { createWork } from './work.ts';

const SELF_TEST = functionRef<(a: string, b: string) => string>('posixpath:join');

/** How to connect. */
export interface RayConnectOptions extends RayCredentials {
  /** Namespace of named actors. Default: `default` (Ray itself would choose a new one each time). */
  readonly namespace?: string;
  /** How long the server keeps the session while the connection is broken, in ms; 0 for not at all. Default: 30 s. */
  readonly reconnectGraceMs?: number;
  /** How long to wait for an answer at the address, in ms. Default: 15 s. */
  readonly connectTimeoutMs?: number;
  /** How long the start of the session may take, in ms. Raise it for runtime environments that are built. Default: 60 s. */
  readonly sessionTimeoutMs?: number;
  /** For the session's own process, its tasks and its actors. Code is named by URIs, see `packages`. */
  readonly runtimeEnv?: RuntimeEnv;
  /** Zips to upload first; `packageUri(zip)` is the name under which `runtimeEnv` can use them. */
  readonly packages?: readonly Uint8Array[];
  /** Whether to run a function of Python's own library on the cluster before anything else. Default: true. */
  readonly selfTest?: boolean;
  /** Aborting it gives up connecting, and rejects with its reason. Once connected, the signal has no effect. */
  readonly signal?: AbortSignal | undefined;
}

/**
 * Connects to `ray://host:port`. Throws RayUnreachableError, RayAuthenticationError, RayVersionError,
 * RaySessionRefusedError, RayTimeoutError; TypeError for an address that is none.
 */
export async function connect(address: string, options: RayConnectOptions = {}): Promise<RayConnection> {
  const channel = createChannel({ address: parseAddress(address), token: options.token, tls: options.tls });
  try {
    const open = (signal: AbortSignal | undefined) => openSession(channel, options, signal);
    return await withLimits(open, { signal: options.signal }, 'connect');
  } catch (error) {
    channel.close();
    throw error;
  }
}

async function openSession(
  channel: RayChannel,
  options: RayConnectOptions,
  signal: AbortSignal | undefined,
): Promise<RayConnection> {
  const { namespace = 'default', reconnectGraceMs = 30_000, sessionTimeoutMs = 60_000 } = options;
  await channel.waitUntilAnswering(options.connectTimeoutMs ?? 15_000, signal);
  const session = await startSession(channel, {
    namespace,
    graceMs: reconnectGraceMs,
    timeoutMs: sessionTimeoutMs,
    runtimeEnv: options.runtimeEnv,
    packages: options.packages ?? [],
    signal,
  });
  const connection = assemble(channel, session, namespace);
  if (options.selfTest !== false) await selfTest(connection, { timeoutMs: sessionTimeoutMs, signal });
  return connection;
}

/**
 * Whether everyone who reaches the address can use the cluster: true if it answers without a token.
 * Throws RayUnreachableError if nothing answers.
 */
export async function answersWithoutToken(
  address: string,
  options: Pick<RayConnectOptions, 'tls' | 'connectTimeoutMs' | 'signal'> = {},
): Promise<boolean> {
  const channel = createChannel({ address: parseAddress(address), tls: options.tls });
  try {
    await channel.waitUntilAnswering(options.connectTimeoutMs ?? 15_000, options.signal);
    return true;
  } catch (error) {
    if (error instanceof RayAuthenticationError) return false;
    throw error;
  } finally {
    channel.close();
  }
}

async function selfTest(connection: RayConnection, limits: CallLimits): Promise<void> {
  try {
    const joined = await connection.call(SELF_TEST, ['a', 'b'], { numCpus: 0, ...limits });
    if (joined !== 'a/b')
      throw new RaySessionRefusedError(`the self-test returned ${JSON.stringify(joined)}`);
  } catch (error) {
    await connection.close(limits.signal?.aborted ? { timeoutMs: 0 } : {}).catch(() => {});
    throw error;
  }
}

function assemble(channel: RayChannel, session: Session, namespace: string): RayConnection {
  const { clientId, dataPath, rayVersion, pythonVersion, traits } = session;
  const once = createIdempotency();
  const terminate = createTerminate(channel, clientId, once);
  const remote = new Remote({
    channel,
    dataPath,
    clientId,
    kill: (actor, noRestart, limits) =>
      terminate({ actor: { id: actor.id, no_restart: noRestart } }, 'kill', limits),
  });
  const logs = createLogStream(channel, clientId);
  const ending = createEnding(channel, dataPath, () => logs.close());
  const cluster = createCluster(channel, clientId);
  const work = createWork({ remote, cluster, namespace });
  const cancel: RayConnection['cancel'] = (ref, { force = false, recursive = true, ...limits } = {}) =>
    terminate({ task_object: { id: ref.id, force, recursive } }, 'cancel', limits);
  return {
    ...cluster,
    ...work,
    ...createPlacementGroups({ ...work, cancel }),
    ...ending,
    ...{ address: channel.address, namespace, rayVersion, pythonVersion, cancel },
    warnings: traits.warning === undefined ? [] : [traits.warning],
    kv: createKv(channel, clientId, once),
    get reconnects() {
      return dataPath.reconnects;
    },
    uploadPackage: (zip, limits = {}) =>
      withLimits((signal) => uploadPackage(channel, zip, signal), limits, 'upload of a package'),
    onLog: (listener) => logs.subscribe(listener),
    [Symbol.asyncDispose]: () => ending.close(),
  };
}

/** `release` is called when the session has ended. */
function createEnding(
  channel: RayChannel,
  dataPath: DataPath,
  release: () => void,
): Pick<RayConnection, 'closed' | 'close'> {
  const closed = dataPath.ended.then((reason): CloseReason => {
    release();
    channel.close(reason);
    return reason instanceof RayClosedError ? { kind: 'closed' } : { kind: 'lost', error: reason };
  });
  return {
    closed,
    async close(limits = {}) {
      try {
        await withLimits(() => dataPath.close(), limits, 'close');
      } finally {
        // After a limit the server has not answered, but this side is closed.
        dataPath.abort(new RayClosedError());
        await closed;
      }
    },
  };
}

type Terminate = (
  target: Omit<TerminateRequest, 'client_id'>,
  what: string,
  limits: CallLimits,
) => Promise<void>;

/** Ends things by a unary call: over the data path the caller would not learn whether it worked. */
function createTerminate(channel: RayChannel, clientId: string, once: Idempotency): Terminate {
  return async (target, what, limits) => {
    const request = { client_id: clientId, ...target };
    await once((metadata) => {
      const options = { what, clientId, retry: true, metadata };
      return withLimits(
        (signal) => channel.call(UNARY.terminate, request, { ...options, signal }),
        limits,
        what,
      );
    });
  };
}
