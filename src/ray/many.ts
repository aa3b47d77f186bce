import { setTimeout as sleep } from 'node:timers/promises';
import type { RayChannel } from './channel.ts';
import { ChunkAssembler } from './chunks.ts';
import {
  RayClosedError,
  RayPythonError,
  RayRequestError,
  RayTimeoutError,
  RayUnreachableError,
} from './errors.ts';
import { errorFromPickle } from './exceptions.ts';
import { GET_OBJECT, UNARY } from './protocol.ts';
import { idKey, type ObjectRef } from './references.ts';
import { withTimeout } from './timeout.ts';

/** A server thread is held while it waits, so it waits for no longer than this at a time; as Python's client. */
const SLICE_MS = 2_000;
const RETRY_DELAY_MS = 200;

/** How to wait for some of many objects. */
export interface WaitOptions {
  /** How many must be there; 1, and at most as many as there are references. */
  readonly numReturns?: number;
  /** After this, whatever is there is the answer; absent: for ever. */
  readonly timeoutMs?: number;
  /** Aborting it rejects with its reason; the objects are not touched. */
  readonly signal?: AbortSignal;
}

/** Which objects are there and which are not, each in the order of asking. */
export interface WaitResult {
  /** Values, or failures: `get` does not wait for these. At most `numReturns`. */
  readonly ready: ObjectRef[];
  readonly pending: ObjectRef[];
}

/** What {@link createMany} works with. */
export interface ManyDependencies {
  readonly channel: RayChannel;
  readonly clientId: string;
  /** Resolves with the reason once the session has ended. */
  readonly ended: Promise<Error>;
  /** Throws where the reference is not held by this session. */
  assertHeld(ref: ObjectRef): void;
  /** Gets one object over the data path, which survives broken connections. */
  getOne(ref: ObjectRef, timeoutMs: number | undefined): Promise<unknown>;
  /** Reads the pickled list of values. */
  decodeList(data: Uint8Array): unknown[];
}

/** Operations on many objects with one request. */
export interface Many {
  /** All values, in order; the first failure fails it. {@link RayTimeoutError} where one is not there in time. */
  get(refs: readonly ObjectRef[], timeoutMs?: number): Promise<unknown[]>;
  wait(refs: readonly ObjectRef[], options?: WaitOptions): Promise<WaitResult>;
  /** Each reference once, as its object comes to be there. {@link RayTimeoutError} where one is not there in time. */
  asCompleted(
    refs: readonly ObjectRef[],
    options?: Omit<WaitOptions, 'numReturns'>,
  ): AsyncGenerator<ObjectRef, void, undefined>;
}

/** Gets and waits for many objects of one session. */
export function createMany(dependencies: ManyDependencies): Many {
  const { assertHeld, getOne, ended } = dependencies;
  const stop = new AbortController();
  void ended.then((reason) => stop.abort(reason));

  const get: Many['get'] = async (refs, timeoutMs) => {
    for (const ref of refs) assertHeld(ref);
    const [first] = refs;
    if (first === undefined) return [];
    if (refs.length === 1) return [await getOne(first, timeoutMs)];
    const deadline = timeoutMs === undefined ? Number.POSITIVE_INFINITY : Date.now() + timeoutMs;
    const late = new AbortController();
    const batch = getBatch(dependencies, {
      refs,
      deadline,
      signal: AbortSignal.any([stop.signal, late.signal]),
    });
    try {
      const values = await withTimeout(batch, timeoutMs, `get of ${refs.length} objects`);
      if (values !== undefined) return values;
    } finally {
      late.abort();
    }
    // Something failed, or the connection broke: one by one they say what, and outlive it.
    const left = timeoutMs === undefined ? undefined : Math.max(0, deadline - Date.now());
    return Promise.all(refs.map((ref) => getOne(ref, left)));
  };

  const wait: Many['wait'] = (refs, options = {}) => {
    const { signal } = options;
    const ends = signal === undefined ? stop.signal : AbortSignal.any([stop.signal, signal]);
    return abortable(waitFor(dependencies, refs, { ...options, stop: ends }), signal);
  };

  return {
    get,
    wait,
    async *asCompleted(refs, { timeoutMs, signal } = {}) {
      const deadline = timeoutMs === undefined ? undefined : Date.now() + timeoutMs;
      let left: readonly ObjectRef[] = refs;
      while (left.length > 0) {
        const { ready, pending } = await wait(left, {
          ...(deadline !== undefined && { timeoutMs: Math.max(0, deadline - Date.now()) }),
          ...(signal !== undefined && { signal }),
        });
        if (ready.length === 0) throw new RayTimeoutError(`${pending.length} objects`, timeoutMs ?? 0);
        yield* ready;
        left = pending;
      }
    },
  };
}

/** Rejects with the signal's reason as soon as it is aborted; what was begun ends by itself. */
async function abortable<T>(promise: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  if (signal === undefined) return promise;
  promise.catch(() => {});
  signal.throwIfAborted();
  const { promise: aborted, reject } = Promise.withResolvers<never>();
  const abort = (): void => reject(signal.reason);
  signal.addEventListener('abort', abort, { once: true });
  try {
    return await Promise.race([promise, aborted]);
  } finally {
    signal.removeEventListener('abort', abort);
  }
}

interface Batch {
  readonly refs: readonly ObjectRef[];
  readonly deadline: number;
  readonly signal: AbortSignal;
}

/** The values, once all are there; undefined where they cannot be had in one go. Ends with its signal. */
async function getBatch(dependencies: ManyDependencies, batch: Batch): Promise<unknown[] | undefined> {
  const { decodeList } = dependencies;
  for (;;) {
    try {
      const data = await download(dependencies, batch);
      const values = data === undefined ? undefined : decodeList(data);
      return values?.length === batch.refs.length ? values : undefined;
    } catch (error) {
      if (error instanceof RayClosedError || batch.signal.aborted) throw error;
      const notYet = error instanceof RayPythonError && error.pythonType === 'GetTimeoutError';
      if (!notYet) return undefined;
    }
  }
}

async function download(
  { channel, clientId }: ManyDependencies,
  { refs, deadline, signal }: Batch,
): Promise<Uint8Array | undefined> {
  const assembler = new ChunkAssembler();
  let data: Uint8Array | undefined;
  const timeoutMs = Math.min(SLICE_MS, Math.max(1, deadline - Date.now()));
  const request = { ids: refs.map((ref) => ref.id), timeout: timeoutMs / 1000 };
  await channel.download(GET_OBJECT, request, {
    what: 'get',
    clientId,
    signal,
    onPiece: (piece) => {
      if (piece.valid !== true) throw errorFromPickle(piece.error ?? new Uint8Array(0), 'get');
      data = assembler.add(piece) ?? data;
    },
  });
  return data;
}

async function waitFor(
  { channel, clientId, assertHeld }: ManyDependencies,
  refs: readonly ObjectRef[],
  { numReturns = 1, timeoutMs, stop }: WaitOptions & { readonly stop: AbortSignal },
): Promise<WaitResult> {
  for (const ref of refs) assertHeld(ref);
  const byId = new Map(refs.map((ref) => [ref.hex, ref]));
  if (byId.size !== refs.length) throw new TypeError('wait: a reference is there twice');
  if (!Number.isInteger(numReturns) || numReturns < 1 || numReturns > refs.length) {
    throw new TypeError(
      `wait: numReturns must be a whole number from 1 to ${refs.length}, not ${numReturns}`,
    );
  }
  const deadline = timeoutMs === undefined ? Number.POSITIVE_INFINITY : Date.now() + timeoutMs;
  for (;;) {
    stop.throwIfAborted();
    const sliceMs = Math.max(0, Math.min(SLICE_MS, deadline - Date.now()));
    const request = {
      object_ids: refs.map((ref) => ref.id),
      num_returns: numReturns,
      timeout: sliceMs / 1000,
      client_id: clientId,
    };
    try {
      const answer = await channel.call(UNARY.waitObject, request, { what: 'wait', clientId });
      if (answer.valid !== true) throw new RayRequestError(2, 'wait failed without a reason');
      const ready = new Set((answer.ready_object_ids ?? []).map(idKey));
      if (ready.size >= numReturns || Date.now() >= deadline) {
        return {
          ready: refs.filter((ref) => ready.has(ref.hex)),
          pending: refs.filter((ref) => !ready.has(ref.hex)),
        };
      }
    } catch (error) {
      if (stop.aborted) throw stop.reason;
      // The data path finds out whether the session outlives a broken connection.
      if (!(error instanceof RayUnreachableError)) throw error;
      if (Date.now() >= deadline) throw new RayTimeoutError('wait', timeoutMs ?? 0);
      await sleep(RETRY_DELAY_MS, undefined, { signal: stop }).catch(() => {
        throw stop.reason;
      });
    }
  }
}
