import type { RayChannel } from './channel.ts';
import { UNARY } from './protocol.ts';

/** A key or a value: text stands for its UTF-8 bytes. */
export type Bytes = string | Uint8Array;

/** Where a key lives. Absent: the namespace that Ray uses itself. */
export interface KvOptions {
  readonly namespace?: string;
}

/** Ray's internal key-value store, which lives as long as the head. */
export interface Kv {
  /** The value; undefined where there is no such key. */
  get(key: Bytes, options?: KvOptions): Promise<Uint8Array | undefined>;
  /** Stores a value; false where the key existed and `overwrite` (true unless told otherwise) forbade it. */
  put(key: Bytes, value: Bytes, options?: KvOptions & { readonly overwrite?: boolean }): Promise<boolean>;
  /** Deletes a key, or all that begin with it; the number of keys deleted. */
  del(key: Bytes, options?: KvOptions & { readonly byPrefix?: boolean }): Promise<number>;
  /** All keys that begin with `prefix`. */
  list(prefix: Bytes, options?: KvOptions): Promise<Uint8Array[]>;
  exists(key: Bytes, options?: KvOptions): Promise<boolean>;
}

/**
 * The store through unary calls. Calls survive a broken connection: reads are repeated, changes are repeated
 * under the same id, and the server answers a change that it has already made from memory.
 */
export function createKv(channel: RayChannel, clientId: string, once: Idempotency): Kv {
  const read = (what: string) => ({ what, clientId, retry: true });
  return {
    async get(key, options = {}) {
      const request = { key: bytes(key), ...namespaceOf(options) };
      return (await channel.call(UNARY.kvGet, request, read('kv.get'))).value ?? undefined;
    },
    async put(key, value, { overwrite = true, ...options } = {}) {
      const request = { key: bytes(key), value: bytes(value), overwrite, ...namespaceOf(options) };
      const response = await once((metadata) =>
        channel.call(UNARY.kvPut, request, { ...read('kv.put'), metadata }),
      );
      return overwrite || response.already_exists !== true;
    },
    async del(key, { byPrefix = false, ...options } = {}) {
      const request = { key: bytes(key), del_by_prefix: byPrefix, ...namespaceOf(options) };
      const response = await once((metadata) =>
        channel.call(UNARY.kvDel, request, { ...read('kv.del'), metadata }),
      );
      return response.deleted_num ?? 0;
    },
    async list(prefix, options = {}) {
      const request = { prefix: bytes(prefix), ...namespaceOf(options) };
      return (await channel.call(UNARY.kvList, request, read('kv.list'))).keys ?? [];
    },
    async exists(key, options = {}) {
      const request = { key: bytes(key), ...namespaceOf(options) };
      return (await channel.call(UNARY.kvExists, request, read('kv.exists'))).exists === true;
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
