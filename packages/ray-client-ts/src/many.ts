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
import { type CallLimits, withLimits } from './limits.ts';
import { GET_OBJECT, UNARY } from './protocol.ts';
import { idKey, type ObjectRef } from './references.ts';

/** A server thread is held while it waits, so it waits for no longer than this at a time; as Python's client. */
const SLICE_MS = 2_000;
const RETRY_DELAY_MS = 200;

/** How to wait for some of many objects. After `timeoutMs` the answer is the objects that are there. */
export interface WaitOptions extends CallLimits {
  /** How many must be there, at most as many as there are references. Default: 1. */
  readonly numReturns?: number;
}

/** Which objects are there and which are not, each in the order of asking. */
export interface WaitResult<Value = unknown> {
  /** Values, or failures: `get` does not wait for these. At most `numReturns`. */
  readonly ready: ObjectRef<Value>[];
  readonly pending: ObjectRef<Value>[];
}

/** What {@link createMany} works with. */
export interface ManyDependencies {
  readonly channel: RayChannel;
  readonly clientId: string;
  /** Resolves with the reason once the session has ended. */
  readonly ended: Promise<Error>;
  /** Throws if this session does not hold the reference. */
  assertHeld(ref: ObjectRef): void;
  /** Gets one object over the data path, which survives broken connections. */
  getOne(ref: ObjectRef, limits: CallLimits): Promise<unknown>;
  /** Reads the pickled list of values. */
  decodeList(data: Uint8Array): unknown[];
}

/** Operations on many objects with one request. */
export interface Many {
  /** All values, in order; the first failure fails it. {@link RayTimeoutError} if one is not there in time. */
  get(refs: readonly ObjectRef[], limits: CallLimits): Promise<unknown[]>;
  wait(refs: readonly ObjectRef[], options?: WaitOptions): Promise<WaitResult>;
  /** Each reference once, as its object comes to be there. {@link RayTimeoutError} if one is not there in time. */
  asCompleted(refs: readonly ObjectRef[], limits?: CallLimits): AsyncGenerator<ObjectRef, void, undefined>;
}

/** Gets and waits for many objects of one session. */
export function createMany(dependencies: ManyDependencies): Many {
  const { assertHeld, getOne, ended } = dependencies;
  const stop = new AbortController();
  void ended.then((reason) => stop.abort(reason));
  /** A signal that the end of the session aborts as well. */
  const orEnd = (signal: AbortSignal | undefined): AbortSignal =>
    signal === undefined ? stop.signal : AbortSignal.any([stop.signal, signal]);

  const get: Many['get'] = async (refs, limits) => {
    for (const ref of refs) assertHeld(ref);
    const [first] = refs;
    if (first === undefined) return [];
    if (refs.length === 1) return [await getOne(first, limits)];
    const values = async (signal: AbortSignal | undefined): Promise<unknown[]> => {
      const together = await getBatch(dependencies, { refs, signal: orEnd(signal) });
      // If something failed, or the connection broke: one by one they say what, and outlive it.
      return together ?? Promise.all(refs.map((ref) => getOne(ref, { signal })));
    };
    return withLimits(values, limits, `get of ${refs.length} objects`);
  };

  const wait: Many['wait'] = (refs, { signal, ...options } = {}) =>
    withLimits(
      (stopped) => waitFor(dependencies, refs, { ...options, stop: orEnd(stopped) }),
      { signal },
      'wait',
    );

  return {
    get,
    wait,
    async *asCompleted(refs, { timeoutMs, signal } = {}) {
      const deadline = timeoutMs === undefined ? undefined : performance.now() + timeoutMs;
      let left: readonly ObjectRef[] = refs;
      while (left.length > 0) {
        const leftMs = deadline === undefined ? undefined : Math.max(0, deadline - performance.now());
        const { ready, pending } = await wait(left, { timeoutMs: leftMs, signal });
        if (ready.length === 0) throw new RayTimeoutError(`${pending.length} objects`, timeoutMs ?? 0);
        yield* ready;
        left = pending;
      }
    },
  };
}

interface Batch {
  readonly refs: readonly ObjectRef[];
  readonly signal: AbortSignal;
}

/** Resolves with all values, or with undefined if one request cannot fetch them. Ends with its signal. */
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
  { refs, signal }: Batch,
): Promise<Uint8Array | undefined> {
  const assembler = new ChunkAssembler();
  let data: Uint8Array | undefined;
  const request = { ids: refs.map((ref) => ref.id), timeout: SLICE_MS / 1000 };
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
  { numReturns = 1, timeoutMs, stop }: Omit<WaitOptions, 'signal'> & { readonly stop: AbortSignal },
): Promise<WaitResult> {
  for (const ref of refs) assertHeld(ref);
  const byId = new Map(refs.map((ref) => [ref.hex, ref]));
  if (byId.size !== refs.length) throw new TypeError('wait: a reference is there twice');
  if (!Number.isInteger(numReturns) || numReturns < 1 || numReturns > refs.length) {
    throw new TypeError(
      `wait: numReturns must be a whole number from 1 to ${refs.length}, not ${numReturns}`,
    );
  }
  const deadline = timeoutMs === undefined ? Number.POSITIVE_INFINITY : performance.now() + timeoutMs;
  for (;;) {
    stop.throwIfAborted();
    const sliceMs = Math.max(0, Math.min(SLICE_MS, deadline - performance.now()));
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
      if (ready.size >= numReturns || performance.now() >= deadline) {
        return {
          ready: refs.filter((ref) => ready.has(ref.hex)),
          pending: refs.filter((ref) => !ready.has(ref.hex)),
        };
      }
    } catch (error) {
      if (stop.aborted) throw stop.reason;
      // The data path finds out whether the session outlives a broken connection.
      if (!(error instanceof RayUnreachableError)) throw error;
      if (performance.now() >= deadline) throw new RayTimeoutError('wait', timeoutMs ?? 0);
      await sleep(RETRY_DELAY_MS, undefined, { signal: stop }).catch(() => {
        throw stop.reason;
      });
    }
  }
}
