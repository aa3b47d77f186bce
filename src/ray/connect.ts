import type { ActorHandle, NumReturns } from './actor.ts';
import { parseAddress } from './address.ts';
import { createChannel, type RayChannel } from './channel.ts';
import {
  assertAlive,
  type Cluster,
  createCluster,
  type NamedActor,
  parseNamedActors,
  type Resources,
} from './cluster.ts';
import { functionRef, type RemoteClass, type RemoteFunction } from './code.ts';
import type { RayCredentials } from './credentials.ts';
import { RayAuthenticationError, RayClosedError, RaySessionRefusedError } from './errors.ts';
import { createIdempotency, createKv, type Idempotency, type Kv } from './kv.ts';
import { createLogStream, type RayLog } from './log-stream.ts';
import type { WaitOptions, WaitResult } from './many.ts';
import type { ActorOptions, RuntimeEnv, TaskOptions } from './options.ts';
import { uploadPackage } from './packages.ts';
import { type TerminateRequest, UNARY } from './protocol.ts';
import { ObjectRef, onlyRef } from './references.ts';
import { type Args, type Kwargs, Remote } from './remote.ts';
import { startSession } from './session.ts';

const SELF_TEST = functionRef('posixpath:join');
const RESOURCES_PER_NODE = functionRef('ray._private.state:available_resources_per_node');

/** How to connect. */
export interface ConnectOptions extends RayCredentials {
  /** Namespace of named actors; `default` unless told otherwise (Ray would make up a new one each time). */
  readonly namespace?: string;
  /** How long the server keeps the session while the connection is broken; 30 s, and 0 for not at all. */
  readonly reconnectGraceMs?: number;
  /** How long to wait for someone to answer at the address; 15 s. */
  readonly connectTimeoutMs?: number;
  /** How long the start of the session may take; 60 s. Raise it for runtime environments that are built. */
  readonly sessionTimeoutMs?: number;
  /** For the session's own process, its tasks and its actors. Code is named by URIs, see `packages`. */
  readonly runtimeEnv?: RuntimeEnv;
  /** Zips to upload first; `packageUri(zip)` is the name under which `runtimeEnv` can use them. */
  readonly packages?: readonly Uint8Array[];
  /** Runs a function of Python's own library on the cluster before anything else; on unless false. */
  readonly selfTest?: boolean;
}

/** Why a connection ended: closed on this side, or the error that ended it. */
export type CloseReason = { readonly kind: 'closed' } | { readonly kind: 'lost'; readonly error: Error };

/** A session on a Ray cluster. `await using` closes it. */
export interface RayConnection extends AsyncDisposable, Cluster {
  readonly address: string;
  readonly namespace: string;
  readonly rayVersion: string;
  readonly pythonVersion: string;
  /** What is worth telling people, such as an untested version. */
  readonly warnings: readonly string[];
  readonly kv: Kv;
  /** Resolves when the connection has ended, for whatever reason; never rejects. */
  readonly closed: Promise<CloseReason>;
  /** How often the session was taken up again after the connection broke. */
  readonly reconnects: number;
  /** Free resources by hexadecimal node id. Runs a small task on the cluster. */
  availableResourcesPerNode(): Promise<Readonly<Record<string, Resources>>>;
  /** Actors with names, of this namespace or of all. */
  namedActors(options?: { readonly allNamespaces?: boolean }): Promise<NamedActor[]>;
  /** Uploads a zip unless the cluster has it; returns its `gcs://` URI for runtime environments. */
  uploadPackage(zip: Uint8Array): Promise<string>;
  /** Stores a value. Throws RayPickleError for what cannot be sent, naming the place inside it. */
  put(value: unknown): Promise<ObjectRef>;
  /** The value; throws what the task that was to make it raised. */
  get<Value>(ref: ObjectRef<Value>, options?: { readonly timeoutMs?: number }): Promise<Value>;
  /** All values, in order, with one request; the first failure fails it. */
  get<Value>(refs: readonly ObjectRef<Value>[], options?: { readonly timeoutMs?: number }): Promise<Value[]>;
  /** Waits until `numReturns` of the objects are there, or for `timeoutMs`, and says which are. */
  wait(refs: readonly ObjectRef[], options?: WaitOptions): Promise<WaitResult>;
  /**
   * Each reference once, as its object (a value or a failure) comes to be there:
   * `for await (const ref of ray.asCompleted(refs)) use(await ray.get(ref))`. RayTimeoutError after `timeoutMs`.
   */
  asCompleted(
    refs: readonly ObjectRef[],
    options?: Omit<WaitOptions, 'numReturns'>,
  ): AsyncGenerator<ObjectRef, void, undefined>;
  /** Lets go of an object, here and in the cluster. */
  release(ref: ObjectRef): Promise<void>;
  /** Starts a function; the reference is to its value. */
  task<Value = unknown>(
    fn: RemoteFunction,
    args?: Args,
    kwargs?: Kwargs,
    options?: TaskOptions,
  ): Promise<ObjectRef<Value>>;
  /** Starts a function that returns a sequence of `numReturns` values; each becomes an object. */
  task(
    fn: RemoteFunction,
    args: Args,
    kwargs: Kwargs,
    options: TaskOptions & NumReturns,
  ): Promise<ObjectRef[]>;
  /** Starts a function, waits for its value (with `numReturns`: an array of them) and lets go of it. */
  call(
    fn: RemoteFunction,
    args?: Args,
    kwargs?: Kwargs,
    options?: TaskOptions & Partial<NumReturns> & { readonly timeoutMs?: number },
  ): Promise<unknown>;
  /** Asks a task to stop; `force` kills its process. */
  cancel(ref: ObjectRef, options?: { readonly force?: boolean; readonly recursive?: boolean }): Promise<void>;
  /**
   * Creates an actor; resolves before its constructor has run (see `ActorHandle.ready`). Others find its name
   * only once it is ready.
   */
  createActor(cls: RemoteClass, args?: Args, kwargs?: Kwargs, options?: ActorOptions): Promise<ActorHandle>;
  /** Finds a named actor; throws RayPythonError (ValueError) where there is none. */
  getActor(name: string, options?: { readonly namespace?: string }): Promise<ActorHandle>;
  /** Hears what this session's processes print; the returned function ends it. */
  onLog(listener: (log: RayLog) => void): () => void;
  /** Ends the session: its objects, and its actors that are not detached, cease to be. */
  close(): Promise<void>;
}

/**
 * Connects to `ray://host:port`. Throws RayUnreachableError, RayAuthenticationError, RayVersionError,
 * RaySessionRefusedError, RayTimeoutError; TypeError for an address that is none.
 */
export async function connect(address: string, options: ConnectOptions = {}): Promise<RayConnection> {
  const { namespace = 'default', reconnectGraceMs = 30_000, sessionTimeoutMs = 60_000 } = options;
  const channel = createChannel({ address: parseAddress(address), token: options.token, tls: options.tls });
  try {
    await channel.waitUntilAnswering(options.connectTimeoutMs ?? 15_000);
    const session = await startSession(channel, {
      namespace,
      graceMs: reconnectGraceMs,
      timeoutMs: sessionTimeoutMs,
      runtimeEnv: options.runtimeEnv,
      packages: options.packages ?? [],
    });
    const connection = assemble(channel, session, namespace);
    if (options.selfTest !== false) await selfTest(connection, sessionTimeoutMs);
    return connection;
  } catch (error) {
    channel.close();
    throw error;
  }
}

/**
 * Whether anyone who reaches the address can use the cluster: true where it answers without a token.
 * Throws RayUnreachableError where nobody answers.
 */
export async function answersWithoutToken(
  address: string,
  options: Pick<ConnectOptions, 'tls' | 'connectTimeoutMs'> = {},
): Promise<boolean> {
  const channel = createChannel({ address: parseAddress(address), tls: options.tls });
  try {
    await channel.waitUntilAnswering(options.connectTimeoutMs ?? 15_000);
    return true;
  } catch (error) {
    if (error instanceof RayAuthenticationError) return false;
    throw error;
  } finally {
    channel.close();
  }
}

async function selfTest(connection: RayConnection, timeoutMs: number): Promise<void> {
  try {
    const joined = await connection.call(SELF_TEST, ['a', 'b'], {}, { numCpus: 0, timeoutMs });
    if (joined !== 'a/b')
      throw new RaySessionRefusedError(`the self-test returned ${JSON.stringify(joined)}`);
  } catch (error) {
    await connection.close();
    throw error;
  }
}

function assemble(
  channel: RayChannel,
  session: Awaited<ReturnType<typeof startSession>>,
  namespace: string,
): RayConnection {
  const { clientId, dataPath, rayVersion, pythonVersion, traits } = session;
  const once = createIdempotency();
  const terminate = createTerminate(channel, clientId, once);
  const remote = new Remote({
    channel,
    dataPath,
    clientId,
    kill: (actor, noRestart) => terminate({ actor: { id: actor.id, no_restart: noRestart } }, 'kill'),
  });
  const logs = createLogStream(channel, clientId);
  const closed = dataPath.ended.then((reason): CloseReason => {
    logs.close();
    channel.close(reason);
    return reason instanceof RayClosedError ? { kind: 'closed' } : { kind: 'lost', error: reason };
  });
  const close = async (): Promise<void> => {
    await dataPath.close();
    await closed;
  };
  const cluster = createCluster(channel, clientId);
  return {
    ...cluster,
    ...createWork(remote, cluster),
    address: channel.address,
    namespace,
    rayVersion,
    pythonVersion,
    warnings: traits.warning === undefined ? [] : [traits.warning],
    kv: createKv(channel, clientId, once),
    closed,
    get reconnects() {
      return dataPath.reconnects;
    },
    namedActors: async ({ allNamespaces = false } = {}) =>
      parseNamedActors(await remote.namedActors(allNamespaces), namespace),
    getActor: (name, { namespace: elsewhere = namespace } = {}) => remote.getActor(name, elsewhere),
    uploadPackage: (zip) => uploadPackage(channel, zip),
    cancel: (ref, { force = false, recursive = true } = {}) =>
      terminate({ task_object: { id: ref.id, force, recursive } }, 'cancel'),
    onLog: (listener) => logs.subscribe(listener),
    close,
    [Symbol.asyncDispose]: close,
  };
}

type Terminate = (target: Omit<TerminateRequest, 'client_id'>, what: string) => Promise<void>;

/** Ends things by a unary call: over the data path nobody would learn whether it worked. */
function createTerminate(channel: RayChannel, clientId: string, once: Idempotency): Terminate {
  return async (target, what) => {
    const request = { client_id: clientId, ...target };
    await once((metadata) =>
      channel.call(UNARY.terminate, request, { what, clientId, retry: true, metadata }),
    );
  };
}

type Work = Pick<
  RayConnection,
  | 'put'
  | 'get'
  | 'wait'
  | 'asCompleted'
  | 'release'
  | 'task'
  | 'call'
  | 'createActor'
  | 'availableResourcesPerNode'
>;

/** Objects, tasks and actors, with the defaults of the interface and the checks that take another call. */
function createWork(remote: Remote, cluster: Cluster): Work {
  const start = async (
    fn: RemoteFunction,
    args: Args = [],
    kwargs: Kwargs = {},
    options: TaskOptions & Partial<NumReturns> = {},
  ): Promise<ObjectRef[]> => {
    if (options.nodeId !== undefined) await assertAlive(cluster, options.nodeId);
    return remote.task(fn, args, kwargs, options);
  };
  const call: Work['call'] = (fn, args, kwargs, { timeoutMs, ...options } = {}) =>
    remote.fetch(start(fn, args, kwargs, options), {
      timeoutMs,
      numReturns: options.numReturns,
      what: fn.label,
    });
  return {
    task: (async (
      fn: RemoteFunction,
      args?: Args,
      kwargs?: Kwargs,
      options: TaskOptions & Partial<NumReturns> = {},
    ) => {
      const refs = await start(fn, args, kwargs, options);
      return options.numReturns === undefined ? onlyRef(refs, fn.label) : refs;
    }) as Work['task'],
    call,
    createActor: async (cls, args = [], kwargs = {}, options = {}) => {
      if (options.nodeId !== undefined) await assertAlive(cluster, options.nodeId);
      return remote.createActor(cls, args, kwargs, options);
    },
    availableResourcesPerNode: async () => {
      const perNode = await call(RESOURCES_PER_NODE, [], {}, { numCpus: 0, timeoutMs: 30_000 });
      return perNode as Record<string, Resources>;
    },
    put: (value) => remote.put(value),
    get: ((refs: ObjectRef | readonly ObjectRef[], { timeoutMs }: { readonly timeoutMs?: number } = {}) =>
      refs instanceof ObjectRef
        ? remote.get(refs, timeoutMs)
        : remote.getMany(refs, timeoutMs)) as Work['get'],
    wait: (refs, options) => remote.wait(refs, options),
    asCompleted: (refs, options) => remote.asCompleted(refs, options),
    release: (ref) => remote.release(ref),
  };
}
