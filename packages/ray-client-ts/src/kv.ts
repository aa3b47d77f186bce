import type { MethodDefinition } from '@grpc/grpc-js';
import type { RayChannel } from './channel.ts';
import { type CallLimits, withLimits } from './limits.ts';
import { UNARY } from './protocol.ts';

/** A key or a value: text stands for its UTF-8 bytes. */
export type Bytes = string | Uint8Array;

/** Where a key lives, and how long the caller waits. */
export interface KvOptions extends CallLimits {
  /** Default: the namespace that Ray uses itself. */
  readonly namespace?: string;
}

/** Ray's internal key-value store, which lives as long as the head. Methods throw RayUnreachableError as well. */
export interface Kv {
  /** The value; undefined if there is no such key. */
  get(key: Bytes, options?: KvOptions): Promise<Uint8Array | undefined>;
  /** Stores a value; false if the key existed and `overwrite` (default: true) forbade it. */
  put(key: Bytes, value: Bytes, options?: KvOptions & { readonly overwrite?: boolean }): Promise<boolean>;
  /** Deletes a key, or all that begin with it; the number of keys deleted. */
  del(key: Bytes, options?: KvOptions & { readonly byPrefix?: boolean }): Promise<number>;
  /** All keys that begin with `prefix`. */
  list(prefix: Bytes, options?: KvOptions): Promise<Uint8Array[]>;
  /** Whether there is such a key. */
  exists(key: Bytes, options?: KvOptions): Promise<boolean>;
}

interface Ask {
  readonly what: string;
  readonly limits: CallLimits;
  readonly metadata?: Readonly<Record<string, string>>;
}

/**
 * The store through unary calls. Calls survive a broken connection: reads are repeated, changes are repeated
 * under the same id, and the server answers a change that it has already made from memory.
 */
export function createKv(channel: RayChannel, clientId: string, once: Idempotency): Kv {
  const ask = <Request extends object, Response extends object>(
    method: MethodDefinition<Request, Response>,
    request: Request,
    { what, limits, metadata = {} }: Ask,
  ): Promise<Response> =>
    withLimits(
      (signal) => channel.call(method, request, { what, clientId, retry: true, metadata, signal }),
      limits,
      what,
    );
  return {
    async get(key, options = {}) {
      const request = { key: bytes(key), ...namespaceOf(options) };
      const { value } = await ask(UNARY.kvGet, request, { what: 'kv.get', limits: options });
      return value ?? undefined;
    },
    async put(key, value, { overwrite = true, ...options } = {}) {
      const request = { key: bytes(key), value: bytes(value), overwrite, ...namespaceOf(options) };
      const response = await once((metadata) =>
        ask(UNARY.kvPut, request, { what: 'kv.put', limits: options, metadata }),
      );
      return overwrite || response.already_exists !== true;
    },
    async del(key, { byPrefix = false, ...options } = {}) {
      const request = { key: bytes(key), del_by_prefix: byPrefix, ...namespaceOf(options) };
      const response = await once((metadata) =>
        ask(UNARY.kvDel, request, { what: 'kv.del', limits: options, metadata }),
      );
      return response.deleted_num ?? 0;
    },
    async list(prefix, options = {}) {
      const request = { prefix: bytes(prefix), ...namespaceOf(options) };
      return (await ask(UNARY.kvList, request, { what: 'kv.list', limits: options })).keys ?? [];
    },
    async exists(key, options = {}) {
      const request = { key: bytes(key), ...namespaceOf(options) };
      return (await ask(UNARY.kvExists, request, { what: 'kv.exists', limits: options })).exists === true;
    },
  };
}

/** Runs a change under an id by which the server recognises its repetition. */
export type Idempotency = <T>(change: (metadata: Record<string, string>) => Promise<T>) => Promise<T>;

/**
 * The server remembers one answer per "thread" of a session, whatever the method, and expects ids to grow within
 * it: a session has one of these. Changes that run at the same time each take a thread of their own; threads
 * are used again, to keep that memory small.
 */
export function createIdempotency(): Idempotency {
  const free: string[] = [];
  let threads = 0;
  let requests = 0;
  return async (change) => {
    const thread = free.pop() ?? `node-${++threads}`;
    try {
      return await change({ thread_id: thread, req_id: String(++requests) });
    } finally {
      free.push(thread);
    }
  };
}

function bytes(value: Bytes): Uint8Array {
  return typeof value === 'string' ? Buffer.from(value, 'utf8') : value;
}

function namespaceOf({ namespace }: KvOptions): { namespace?: Uint8Array } {
  return namespace === undefined ? {} : { namespace: bytes(namespace) };
}
