import type { ActorHandle } from './actor.ts';
import type { ClusterState, NamedActor, Resources } from './cluster.ts';
import type { RemoteClass, RemoteFunction } from './code.ts';
import type { Kv } from './kv.ts';
import type { CallLimits } from './limits.ts';
import type { RayLog } from './log-stream.ts';
import type { WaitOptions, WaitResult } from './many.ts';
import type { ActorOptions, TaskOptions } from './options.ts';
import type { ObjectRef } from './references.ts';
import type { PlacementGroup, PlacementGroupOptions } from './scheduling.ts';
import type {
  AnyMethods,
  Args,
  Call,
  ManyCall,
  NumReturns,
  Result,
  Results,
  Signature,
} from './signatures.ts';

/** Why a connection ended: closed on this side, or the error that ended it. */
export type CloseReason = { readonly kind: 'closed' } | { readonly kind: 'lost'; readonly error: Error };

/**
 * A session on a Ray cluster. `await using` closes it.
 *
 * Every method that waits takes `timeoutMs` and `signal` (see {@link CallLimits}), and rejects with RaySessionLostError or
 * RayClosedError when the session ends.
 */
export interface RayConnection extends AsyncDisposable, ClusterState {
  /** `host:port`. */
  readonly address: string;
  /** The namespace of names without one of their own. */
  readonly namespace: string;
  /** The cluster's version of Ray, such as `2.60.0`. */
  readonly rayVersion: string;
  /** The session's version of Python, such as `3.11.7`. */
  readonly pythonVersion: string;
  /** Sentences for the user, such as that this version of Ray is untested. */
  readonly warnings: readonly string[];
  readonly kv: Kv;
  /** Resolves when the connection has ended, for whatever reason; never rejects. */
  readonly closed: Promise<CloseReason>;
  /** How often the session was resumed after the connection broke. */
  readonly reconnects: number;
  /** Free resources by hexadecimal node id. Runs a small task on the cluster. Default of `timeoutMs`: 30 s. */
  availableResourcesPerNode(limits?: CallLimits): Promise<Readonly<Record<string, Resources>>>;
  /** Actors with names, of this namespace or of all. */
  namedActors(options?: { readonly allNamespaces?: boolean } & CallLimits): Promise<NamedActor[]>;
  /** Uploads a zip unless the cluster has it; returns its `gcs://` URI for runtime environments. */
  uploadPackage(zip: Uint8Array, limits?: CallLimits): Promise<string>;
  /** Stores a value. Throws RayPickleError for what cannot be sent, naming the place inside it. */
  put<Value>(value: Value, limits?: CallLimits): Promise<ObjectRef<Value>>;
  /** The value; throws what the task that was to make it raised. */
  get<Value>(ref: ObjectRef<Value>, limits?: CallLimits): Promise<Value>;
  /** All values, in order, with one request; the first failure fails it. */
  get<Value>(refs: readonly ObjectRef<Value>[], limits?: CallLimits): Promise<Value[]>;
  /** Waits until `numReturns` of the objects are there, or for `timeoutMs`, and says which are. */
  wait<Value>(refs: readonly ObjectRef<Value>[], options?: WaitOptions): Promise<WaitResult<Value>>;
  /**
   * Each reference once, as its object (a value or a failure) comes to be there:
   * `for await (const ref of ray.asCompleted(refs)) use(await ray.get(ref))`. RayTimeoutError after `timeoutMs`.
   */
  asCompleted<Value>(
    refs: readonly ObjectRef<Value>[],
    limits?: CallLimits,
  ): AsyncGenerator<ObjectRef<Value>, void, undefined>;
  /** Gives up an object, here and in the cluster. Releases of one moment travel together. */
  release(ref: ObjectRef, limits?: CallLimits): Promise<void>;
  /** Starts a function that returns a sequence of `numReturns` values; each becomes an object. */
  task<F extends Signature>(
    fn: RemoteFunction<F>,
    ...call: ManyCall<Parameters<F>, TaskOptions>
  ): Promise<Results<F>>;
  /**
   * Starts a function; the reference is to its value. Throws RayPythonError for code that does not load, arguments that
   * do not fit and options that Ray refuses; RayRequestError (NOT_FOUND) for a node that is not alive.
   */
  task<F extends Signature>(
    fn: RemoteFunction<F>,
    ...call: Call<Parameters<F>, TaskOptions>
  ): Promise<ObjectRef<Result<F>>>;
  /**
   * Starts a function, waits for its value (with `numReturns`: an array of them) and gives it up in the cluster. After
   * `timeoutMs` or `signal` the task continues; to cancel tasks, use `task` and `cancel`.
   */
  call<F extends Signature>(
    fn: RemoteFunction<F>,
    ...call: Call<Parameters<F>, TaskOptions & Partial<NumReturns>>
  ): Promise<Result<F>>;
  /** Asks a task to stop; `force` kills its process. Default of `recursive`, its own tasks as well: true. */
  cancel(
    ref: ObjectRef,
    options?: { readonly force?: boolean; readonly recursive?: boolean } & CallLimits,
  ): Promise<void>;
  /**
   * Creates an actor; resolves before its constructor has run (see `ActorHandle.ready`). Others find its name
   * only once it is ready. An actor that is created after `timeoutMs` or `signal` is released.
   */
  createActor<Methods extends object, Parameters extends Args>(
    cls: RemoteClass<Methods, Parameters>,
    ...call: Call<Parameters, ActorOptions>
  ): Promise<ActorHandle<Methods>>;
  /** Finds a named actor. Throws RayPythonError (ValueError) if there is none. */
  getActor<Methods extends object = AnyMethods>(
    name: string,
    options?: { readonly namespace?: string } & CallLimits,
  ): Promise<ActorHandle<Methods>>;
  /**
   * Reserves resources: one bundle each, such as `{ CPU: 1, GPU: 1 }`. Resolves before the group has them (see
   * `PlacementGroup.ready`). Throws RayPythonError (ValueError) for bundles that ask for nothing.
   */
  createPlacementGroup(
    bundles: readonly Resources[],
    options?: PlacementGroupOptions,
  ): Promise<PlacementGroup>;
  /** Finds a placement group of this namespace. Throws RayPythonError (ValueError) if there is none. */
  getPlacementGroup(name: string, limits?: CallLimits): Promise<PlacementGroup>;
  /** Calls `listener` with what this session's processes print; the returned function ends it. */
  onLog(listener: (log: RayLog) => void): () => void;
  /**
   * Ends the session: its objects, and its actors that are not detached, cease to be. After `timeoutMs` or `signal` the
   * connection is closed on this side, and the cluster cleans up after `reconnectGraceMs`.
   */
  close(limits?: CallLimits): Promise<void>;
}
