import { createHash } from 'node:crypto';
import {
  Server,
  ServerCredentials,
  type ServerDuplexStream,
  type ServerWritableStream,
  status,
} from '@grpc/grpc-js';
import { toJavaScript } from '../../src/pickle/convert.ts';
import { readPickle } from '../../src/pickle/reader.ts';
import { PyCall, PyGlobal } from '../../src/pickle/values.ts';
import { writePickle } from '../../src/pickle/writer.ts';
import {
  DATAPATH,
  type DataRequest,
  type DataResponse,
  GET_OBJECT,
  type GetResponse,
  LOGSTREAM,
  type LogData,
  UNARY,
} from '../../src/protocol.ts';

type Stream = ServerDuplexStream<DataRequest, DataResponse>;

/** What a test decides; everything has a default that behaves like a healthy head. */
export interface FakeRayOptions {
  readonly token?: string;
  readonly rayVersion?: string;
  /** Answers of `init`, in turn; the last one stays. */
  readonly init?: readonly { readonly ok: boolean; readonly msg?: string }[];
  /** Bytes per chunk of a result. */
  readonly chunkBytes?: number;
  /** The pickle that a task leads to; undefined: never ready. */
  readonly run?: (task: NonNullable<DataRequest['task']>, data: Uint8Array) => Uint8Array | undefined;
  /** Called for each message; true breaks the stream before it is dealt with. */
  readonly breakBefore?: (message: DataRequest) => boolean;
  /** Called for each reply; true breaks the stream instead of sending it. */
  readonly breakInstead?: (reply: DataResponse) => boolean;
  /** Answers a get of many in place of the objects: a pickled exception, or a broken connection. */
  readonly instead?: () => Uint8Array | 'broken' | undefined;
}

const NOT_YET = new PyCall(new PyGlobal('ray.exceptions', 'GetTimeoutError'), 'not yet');

type LogStream = ServerDuplexStream<object, LogData>;
type UnaryCall = { readonly metadata: { get(key: string): unknown[] }; readonly request: KvRequest };
type ManyStream = ServerWritableStream<{ ids?: Uint8Array[] | null }, GetResponse>;
type UnaryReply = (error: object | null, response?: object) => void;

interface KvRequest {
  readonly type?: number;
  readonly key?: Uint8Array;
  readonly value?: Uint8Array;
  readonly overwrite?: boolean;
  readonly object_ids?: readonly Uint8Array[];
}

interface FakeSession {
  readonly cache: Map<number, DataResponse>;
  readonly chunks: { reqId: number; parts: Uint8Array[] };
  graceS: number;
  acknowledged: number;
}

/** A server that speaks Ray's client protocol without Ray, with its habits: cache, chunks, strictness. */
export interface FakeRay extends AsyncDisposable {
  readonly address: string;
  /** Every message on a data path, in order of arrival. */
  readonly received: DataRequest[];
  /** How many tasks were run: more than asked for means that one was repeated. */
  readonly ran: () => number;
  /** How often many objects were got, or waited for, with one request. */
  readonly manyRequests: () => number;
  /** Metadata of every stream: client id and whether it was a reconnect. */
  readonly streams: { clientId: string; reconnecting: string }[];
  readonly kv: Map<string, Uint8Array>;
  /** Ends every open stream as a broken network would. */
  breakAll(): void;
  /** Forgets every session. */
  forgetSessions(): void;
  log(data: LogData): void;
  /** Resolves when someone has asked for logs. */
  readonly listening: Promise<void>;
}

/** Starts one on a free port of 127.0.0.1. */
export async function startFakeRay(options: FakeRayOptions = {}): Promise<FakeRay> {
  const state = new FakeHead(options);
  const listening = Promise.withResolvers<void>();
  state.onLogSettings = listening.resolve;
  const server = new Server({ 'grpc.max_receive_message_length': -1, 'grpc.max_send_message_length': -1 });
  const path = (method: { readonly path: string }): string => method.path;
  const methods = { datapath: DATAPATH, logstream: LOGSTREAM, getObject: GET_OBJECT, ...UNARY };
  for (const method of Object.values(methods)) {
    server.register(
      path(method),
      state.handlerOf(method) as never,
      method.responseSerialize as never,
      method.requestDeserialize as never,
      method.requestStream ? 'bidi' : method.responseStream ? 'serverStream' : 'unary',
    );
  }
  const port = await new Promise<number>((resolve, reject) =>
    server.bindAsync('127.0.0.1:0', ServerCredentials.createInsecure(), (error, bound) =>
      error ? reject(error) : resolve(bound),
    ),
  );
  return {
    address: `127.0.0.1:${port}`,
    received: state.received,
    ran: () => state.ran.count,
    manyRequests: () => state.manyRequests,
    streams: state.streams,
    kv: state.kv,
    breakAll: () => {
      for (const stream of [...state.open]) state.breakStream(stream);
    },
    forgetSessions: () => state.sessions.clear(),
    listening: listening.promise,
    log: (data) => {
      for (const stream of state.logs) stream.write(data);
    },
    [Symbol.asyncDispose]: async () => server.forceShutdown(),
  };
}

/** What is behind the server: sessions, objects, keys. */
class FakeHead {
  readonly sessions = new Map<string, FakeSession>();
  readonly objects = new Map<string, Uint8Array>();
  readonly received: DataRequest[] = [];
  readonly streams: { clientId: string; reconnecting: string }[] = [];
  readonly open = new Set<Stream>();
  readonly logs = new Set<LogStream>();
  readonly kv = new Map<string, Uint8Array>();
  readonly ran = { count: 0 };
  manyRequests = 0;
  readonly #options: FakeRayOptions;
  #inits = 0;

  constructor(options: FakeRayOptions) {
    this.#options = options;
  }

  handlerOf(method: { readonly path: string }): unknown {
    const name = method.path.split('/').at(-1) ?? '';
    if (name === 'Datapath') return (stream: Stream) => this.#datapath(stream);
    if (name === 'GetObject') return (stream: ManyStream) => this.#getMany(stream);
    if (name === 'Logstream') return (stream: LogStream) => this.#logstream(stream);
    return (call: UnaryCall, reply: UnaryReply) => {
      const { token } = this.#options;
      const given = call.metadata.get('authorization')[0];
      if (token !== undefined && given !== `Bearer ${token}`) {
        reply({ code: status.UNAUTHENTICATED, details: 'Invalid or missing authentication token' });
      } else {
        reply(null, this.#unary(name, call.request));
      }
    };
  }

  breakStream(stream: Stream, code: number = status.UNAVAILABLE, details = 'broken'): void {
    this.open.delete(stream);
    stream.emit('error', { code, details });
  }

  #datapath(stream: Stream): void {
    const clientId = String(stream.metadata.get('client_id')[0]);
    const reconnecting = String(stream.metadata.get('reconnecting')[0]);
    this.streams.push({ clientId, reconnecting });
    this.open.add(stream);
    if (reconnecting === 'True' && !this.sessions.has(clientId)) {
      return void this.breakStream(stream, status.NOT_FOUND, 'the session has already been cleaned up');
    }
    const fresh: FakeSession = {
      cache: new Map(),
      chunks: { reqId: 0, parts: [] },
      graceS: 0,
      acknowledged: 0,
    };
    const session = this.sessions.get(clientId) ?? fresh;
    this.sessions.set(clientId, session);
    stream.on('data', (message) => this.#receive(stream, session, message));
    stream.on('error', () => this.open.delete(stream));
    stream.on('end', () => stream.end());
  }

  #receive(stream: Stream, session: FakeSession, message: DataRequest): void {
    if (!this.open.has(stream)) return;
    this.received.push(message);
    if (this.#options.breakBefore?.(message) === true) return void this.breakStream(stream);
    const reqId = message.req_id ?? 0;
    if (message.acknowledge) {
      session.acknowledged = message.acknowledge.req_id ?? 0;
      return;
    }
    if (message.get) return void this.#sendChunks(stream, message);
    if (session.graceS > 0 && reqId > 0 && reqId <= session.acknowledged) {
      return void this.breakStream(stream, status.FAILED_PRECONDITION, 'already cleaned up');
    }
    const known = session.cache.get(reqId);
    if (known !== undefined && reqId > 0) return void this.#send(stream, known);
    if (message.init) session.graceS = message.init.reconnect_grace_period ?? 0;
    const data = collect(session, message);
    if (data === 'mixed') return void this.breakStream(stream, status.FAILED_PRECONDITION, 'mixed chunks');
    if (data === 'more') return;
    const reply = { req_id: reqId, ...this.#answer(message, data) };
    session.cache.set(reqId, reply);
    this.#send(stream, reply);
  }

  #answer(message: DataRequest, data: Uint8Array): DataResponse | undefined {
    if (message.init) {
      const replies = this.#options.init ?? [{ ok: true }];
      return { init: replies[Math.min(this.#inits++, replies.length - 1)] ?? { ok: true } };
    }
    if (message.connection_info) {
      return {
        connection_info: { ray_version: this.#options.rayVersion ?? '2.60.0', python_version: '3.11.7' },
      };
    }
    if (message.put) return { put: { valid: true, id: this.#store(data) } };
    if (message.task) {
      this.ran.count++;
      const result = this.#options.run?.(message.task, data);
      const id = result === undefined ? Buffer.alloc(28, 0xee) : this.#store(result);
      return { task_ticket: { valid: true, return_ids: [id] } };
    }
    if (message.release) return { release: { ok: (message.release.ids ?? []).map(() => true) } };
    if (message.connection_cleanup) return { connection_cleanup: {} };
    if (message.list_named_actors) return { list_named_actors: { actors_json: '["one"]' } };
    return undefined;
  }

  #store(data: Uint8Array): Uint8Array {
    const id = createHash('sha256').update(`${this.objects.size}`).digest().subarray(0, 28);
    this.objects.set(id.toString('hex'), data);
    return id;
  }

  #send(stream: Stream, reply: DataResponse): void {
    if (!this.open.has(stream)) return;
    if (this.#options.breakInstead?.(reply) === true) return void this.breakStream(stream);
    stream.write(reply);
  }

  #sendChunks(stream: Stream, message: DataRequest): void {
    const data = this.objects.get(Buffer.from(message.get?.ids?.[0] ?? []).toString('hex'));
    if (data === undefined) return;
    const size = this.#options.chunkBytes ?? 5 * 2 ** 20;
    const total = Math.ceil(data.length / size);
    for (let index = message.get?.start_chunk_id ?? 0; index < total; index++) {
      const part = data.subarray(index * size, (index + 1) * size);
      const chunk = { data: part, chunk_id: index, total_chunks: total, total_size: data.length };
      this.#send(stream, { req_id: message.req_id ?? 0, get: { valid: true, ...chunk } });
    }
  }

  #getMany(stream: ManyStream): void {
    this.manyRequests++;
    const ids = stream.request.ids ?? [];
    const instead = this.#options.instead?.();
    if (instead === 'broken')
      return void stream.emit('error', { code: status.UNAVAILABLE, details: 'broken' });
    const found = ids.map((id) => this.objects.get(Buffer.from(id).toString('hex')));
    const late = found.includes(undefined) ? writePickle(NOT_YET, { code: true }) : undefined;
    const error = instead ?? late;
    if (error !== undefined) {
      stream.write({ valid: false, error });
      return void stream.end();
    }
    const list = writePickle(found.map((data) => toJavaScript(readPickle(data ?? new Uint8Array(0)))));
    const size = this.#options.chunkBytes ?? 5 * 2 ** 20;
    const total = Math.ceil(list.length / size);
    for (let index = 0; index < total; index++) {
      const data = list.subarray(index * size, (index + 1) * size);
      stream.write({ valid: true, data, chunk_id: index, total_chunks: total, total_size: list.length });
    }
    stream.end();
  }

  #wait(ids: readonly Uint8Array[]): object {
    this.manyRequests++;
    const there = (id: Uint8Array): boolean => this.objects.has(Buffer.from(id).toString('hex'));
    return {
      valid: true,
      ready_object_ids: ids.filter(there),
      remaining_object_ids: ids.filter((id) => !there(id)),
    };
  }

  #logstream(stream: LogStream): void {
    this.logs.add(stream);
    stream.on('error', () => this.logs.delete(stream));
    stream.on('data', () => this.onLogSettings?.());
    stream.on('end', () => stream.end());
  }

  /** Called when a listener has asked for logs. */
  onLogSettings: (() => void) | undefined;

  #unary(name: string, request: KvRequest): object {
    const { kv } = this;
    const key = Buffer.from(request.key ?? []).toString();
    const had = kv.has(key);
    if (name === 'WaitObject') return this.#wait(request.object_ids ?? []);
    if (name === 'ClusterInfo') return { json: request.type === 1 ? '[]' : '{}' };
    if (name === 'KVGet') return had ? { value: kv.get(key) } : {};
    if (name === 'KVDel') return { deleted_num: kv.delete(key) ? 1 : 0 };
    if (name === 'KVList') return { keys: [...kv.keys()].map((known) => Buffer.from(known)) };
    if (name === 'KVExists') return { exists: had };
    if (name !== 'KVPut') return { ok: true };
    if (!had || request.overwrite === true) kv.set(key, request.value ?? new Uint8Array(0));
    return { already_exists: had };
  }
}

/** The whole data of a put or a task, once its last chunk is there; Ray's strictness included. */
function collect(session: FakeSession, message: DataRequest): Uint8Array | 'more' | 'mixed' {
  const part = message.put ?? message.task;
  if (!part) return new Uint8Array(0);
  const { chunks } = session;
  if (chunks.parts.length > 0 && chunks.reqId !== message.req_id) return 'mixed';
  chunks.reqId = message.req_id ?? 0;
  if ((part.chunk_id ?? 0) === chunks.parts.length) chunks.parts.push(part.data ?? new Uint8Array(0));
  if (chunks.parts.length < (part.total_chunks ?? 0)) return 'more';
  return Buffer.concat(chunks.parts.splice(0));
}
