import { ActorHandle, type MethodCall } from './actor.ts';
import type { RayChannel } from './channel.ts';
import type { RemoteClass, RemoteFunction } from './code.ts';
import type { DataPath } from './data-path.ts';
import {
  type RayError,
  RayGeneratorError,
  RayPickleError,
  RayPythonError,
  RayRequestError,
} from './errors.ts';
import { errorFromException, errorFromPickle, isException } from './exceptions.ts';
import type { Exchange } from './exchange.ts';
import { type CallLimits, withLimits } from './limits.ts';
import { createMany, type Many, type WaitOptions, type WaitResult } from './many.ts';
import { type ActorOptions, encodeOptions, type MethodOptions, type TaskOptions } from './options.ts';
import { toJavaScript } from './pickle/convert.ts';
import { readPickle } from './pickle/reader.ts';
import { PyTuple, type RayStub } from './pickle/values.ts';
import { writePickle } from './pickle/writer.ts';
import { type ClientTask, type DataResponse, type TaskTicket, TaskType } from './protocol.ts';
import { idKey, ObjectRef, onlyRef, ReferenceTable } from './references.ts';
import type { Args, Kwargs, NumReturns, ReadCall, Signature } from './signatures.ts';

/** A pending get, shared by all callers that wait for the same object. */
interface SharedGet {
  readonly exchange: Exchange;
  /** Holds the reference, so that the garbage collector does not release it meanwhile. */
  readonly ref: ObjectRef;
  waiting: number;
}

/** How the values of something just started are fetched. */
interface FetchOptions {
  readonly numReturns: number | undefined;
  /** For messages. */
  readonly what: string;
  readonly limits: CallLimits;
}

/** What {@link Remote} works with. */
export interface RemoteOptions {
  readonly channel: RayChannel;
  readonly dataPath: DataPath;
  readonly clientId: string;
  /** Ends an actor; not over the data path, which would not tell whether it worked. */
  readonly kill: (actor: ActorHandle<object>, noRestart: boolean, limits: CallLimits) => Promise<void>;
}

/**
 * Objects, tasks and actors of one session, over its data path. A result that no caller
 * waits for is released when it arrives.
 */
export class Remote {
  readonly references: ReferenceTable;
  readonly #dataPath: DataPath;
  readonly #clientId: string;
  readonly #kill: RemoteOptions['kill'];
  readonly #payloads = new Map<string, Promise<Uint8Array>>();
  readonly #gets = new Map<string, SharedGet>();
  readonly #many: Many;

  constructor({ channel, dataPath, clientId, kill }: RemoteOptions) {
    this.#dataPath = dataPath;
    this.#clientId = clientId;
    this.#kill = kill;
    this.references = new ReferenceTable((ids) => dataPath.ask({ kind: 'release', ids }).answer);
    this.#many = createMany({
      channel,
      clientId,
      ended: dataPath.ended,
      assertHeld: (ref) => this.references.assertHeld(ref),
      getOne: (ref, limits) => this.get(ref, limits),
      decodeList: (data) => this.#decodeList(data),
    });
  }

  /** Stores a value in the cluster. */
  put(value: unknown, limits: CallLimits = {}): Promise<ObjectRef> {
    const start = async () => this.#newRef(await this.#putPickle(this.#encode(value), 'put'));
    return withLimits(start, limits, 'put', this.discard);
  }

  /** The value of a reference. */
  async get(ref: ObjectRef, limits: CallLimits = {}): Promise<unknown> {
    this.references.assertHeld(ref);
    limits.signal?.throwIfAborted();
    const key = ref.hex;
    let shared = this.#gets.get(key);
    if (shared === undefined) {
      const exchange = this.#dataPath.ask({ kind: 'get', id: ref.id });
      shared = { exchange, ref, waiting: 0 };
      this.#gets.set(key, shared);
      const over = (): void => void this.#gets.delete(key);
      exchange.answer.then(over, over);
    }
    const { exchange } = shared;
    shared.waiting++;
    exchange.abandoned = false;
    try {
      const data = await withLimits(() => exchange.answer, limits, `get of ${key}`);
      return this.#decode(data as Uint8Array);
    } finally {
      shared.waiting--;
      exchange.abandoned = shared.waiting === 0;
    }
  }

  /** The values of many references, in order, with one request; the first failure fails it. */
  getMany(refs: readonly ObjectRef[], limits: CallLimits = {}): Promise<unknown[]> {
    return this.#many.get(refs, limits);
  }

  /** Waits until some of many objects are there, or until the timeout. */
  wait(refs: readonly ObjectRef[], options?: WaitOptions): Promise<WaitResult> {
    return this.#many.wait(refs, options);
  }

  /** Each of many references once, as its object comes to be there. */
  asCompleted(...args: Parameters<Many['asCompleted']>): ReturnType<Many['asCompleted']> {
    return this.#many.asCompleted(...args);
  }

  /** Starts a task; the references are to its values, one unless `numReturns` says otherwise. */
  async task(
    fn: RemoteFunction<Signature>,
    { args, kwargs, options }: ReadCall<TaskOptions & Partial<NumReturns>>,
    signal?: AbortSignal,
  ): Promise<ObjectRef[]> {
    const task = { type: TaskType.FUNCTION, name: fn.label, ...this.#options(options) };
    const data = this.#encodeArguments(args, kwargs);
    const payload = await this.#payload(fn);
    signal?.throwIfAborted();
    const ids = await this.#schedule({ ...task, payload_id: payload }, data);
    return ids.map((id) => this.#newRef(id));
  }

  /** Creates an actor. */
  async createActor(
    cls: RemoteClass<object, Args>,
    { args, kwargs, options }: ReadCall<ActorOptions>,
    signal?: AbortSignal,
  ): Promise<ActorHandle> {
    const task = { type: TaskType.ACTOR, name: cls.label, ...this.#options(options) };
    const data = this.#encodeArguments(args, kwargs);
    const payload = await this.#payload(cls);
    signal?.throwIfAborted();
    const ids = await this.#schedule({ ...task, payload_id: payload }, data);
    return this.#newActor(onlyId(ids, cls.label), options.name);
  }

  /** Finds a named actor. */
  async getActor(name: string, namespace: string): Promise<ActorHandle> {
    const task = { type: TaskType.NAMED_ACTOR, name, namespace };
    return this.#newActor(onlyId(await this.#schedule(task, this.#encodeArguments([], {})), name), name);
  }

  /** Calls a method of an actor; the references are to its values. */
  submit(actor: ActorHandle<object>, method: string, call: MethodCall): Promise<ObjectRef[]> {
    const start = () => this.#submit(actor, method, call);
    return withLimits(start, call.limits, method, (refs) => refs.forEach(this.discard));
  }

  /** Calls a method of an actor and fetches its value. */
  call(actor: ActorHandle<object>, method: string, call: MethodCall): Promise<unknown> {
    const { limits, options } = call;
    const start = () => this.#submit(actor, method, call);
    return this.fetch(start, { limits, numReturns: options.numReturns, what: method });
  }

  /** What is started yields; its objects are then given up. The limits cover both. */
  fetch(
    start: (signal: AbortSignal | undefined) => Promise<ObjectRef[]>,
    { limits, numReturns, what }: FetchOptions,
  ): Promise<unknown> {
    const value = async (signal: AbortSignal | undefined): Promise<unknown> => {
      const refs = await start(signal);
      try {
        return await (numReturns === undefined
          ? this.get(onlyRef(refs, what), { signal })
          : this.getMany(refs, { signal }));
      } finally {
        refs.forEach(this.discard);
      }
    };
    return withLimits(value, limits, what);
  }

  /** Releases a reference and waits until the server has released it. */
  async release(holder: ObjectRef | ActorHandle<object>, limits: CallLimits = {}): Promise<void> {
    this.references.release(holder);
    await withLimits(() => this.references.flush(), limits, 'release');
  }

  /** Names of actors, in JSON, as the server sends them. */
  async namedActors(allNamespaces: boolean): Promise<string> {
    const response = await this.#ask({ kind: 'actors', allNamespaces });
    return response.list_named_actors?.actors_json ?? '[]';
  }

  /** Releases a reference. The server receives the release soon after. */
  readonly discard = (holder: ObjectRef | ActorHandle<object>): void => this.references.release(holder);

  async #submit(
    actor: ActorHandle<object>,
    method: string,
    { args, kwargs, options }: MethodCall,
  ): Promise<ObjectRef[]> {
    this.references.assertHeld(actor);
    const task = { type: TaskType.METHOD, name: method, payload_id: actor.id, ...this.#options(options) };
    const ids = await this.#schedule(task, this.#encodeArguments(args, kwargs));
    return ids.map((id) => this.#newRef(id));
  }

  /** The id that stands for a function or a class in this session, which is put there on first use. */
  #payload(code: RemoteFunction<Signature> | RemoteClass<object, Args>): Promise<Uint8Array> {
    const key = `${code.kind}:${Buffer.from(code.pickle).toString('base64')}`;
    const known = this.#payloads.get(key);
    if (known !== undefined) return known;
    const payload = this.#putPickle(code.pickle, code.label);
    this.#payloads.set(key, payload);
    payload.catch(() => this.#payloads.delete(key));
    return payload;
  }

  async #putPickle(data: Uint8Array, what: string): Promise<Uint8Array> {
    const { put } = await this.#ask({ kind: 'put', data });
    if (put?.valid !== true) throw errorFromPickle(put?.error ?? new Uint8Array(0), what);
    return put.id ?? new Uint8Array(0);
  }

  async #schedule(task: ClientTask, data: Uint8Array): Promise<Uint8Array[]> {
    const response = await this.#ask({ kind: 'task', task: { ...task, client_id: this.#clientId }, data });
    const ticket: TaskTicket = response.task_ticket ?? {};
    if (ticket.valid !== true) throw refusal(ticket, task.name ?? 'task');
    return ticket.return_ids ?? [];
  }

  async #ask(question: Parameters<DataPath['ask']>[0]): Promise<DataResponse> {
    return (await this.#dataPath.ask(question).answer) as DataResponse;
  }

  #options(options: TaskOptions | ActorOptions | MethodOptions): ClientTask {
    const pickled = encodeOptions(options);
    return pickled === undefined ? {} : { options: { pickled_options: pickled } };
  }

  #newRef(id: Uint8Array): ObjectRef {
    return this.references.hold(new ObjectRef(id), { collect: true });
  }

  #newActor(id: Uint8Array, name: string | undefined): ActorHandle {
    const handle = new ActorHandle(id, name, {
      submit: (actor, method, call) => this.submit(actor, method, call),
      call: (actor, method, call) => this.call(actor, method, call),
      kill: (actor, noRestart, limits) => this.#kill(actor, noRestart, limits),
      release: (actor, limits) => this.release(actor, limits),
    });
    return this.references.hold(handle, { collect: false });
  }

  #encodeArguments(args: Args, kwargs: Kwargs): Uint8Array {
    return this.#encode(new PyTuple([...args], kwargs));
  }

  #encode(value: unknown): Uint8Array {
    return writePickle(value, { stub: (handle) => this.#stub(handle) });
  }

  #stub(handle: object): RayStub | undefined {
    if (!(handle instanceof ObjectRef || handle instanceof ActorHandle)) return undefined;
    this.references.assertHeld(handle);
    const type = handle instanceof ObjectRef ? 'Object' : 'Actor';
    return { type, clientId: this.#clientId, id: handle.id, name: undefined };
  }

  #decode(data: Uint8Array): unknown {
    const node = readPickle(data);
    if (isException(node)) throw errorFromException(node);
    return toJavaScript(node, { resolve: (stub) => this.#resolve(stub) });
  }

  #decodeList(data: Uint8Array): unknown[] {
    const nodes = readPickle(data);
    if (!Array.isArray(nodes)) throw new RayPickleError('the values that were asked for are no list');
    const failure = nodes.find(isException);
    if (failure !== undefined) throw errorFromException(failure);
    return toJavaScript(nodes, { resolve: (stub) => this.#resolve(stub) }) as unknown[];
  }

  /** A reference that arrived inside a value: the server now holds it for us. */
  #resolve(stub: RayStub): ObjectRef | ActorHandle {
    if (stub.type === 'Object') return this.#newRef(stub.id);
    if (stub.type === 'Actor') return this.#newActor(stub.id, undefined);
    throw new RayPickleError(`a reference to a ${stub.type} (${idKey(stub.id)}) cannot be read`);
  }
}

/** The error of a call that the server did not start, or whose references it cannot send. */
function refusal(ticket: TaskTicket, what: string): RayError {
  const error = errorFromPickle(ticket.error ?? new Uint8Array(0), what);
  // The server reads the id of each reference; a generator, which Ray started, has none.
  const isGenerator =
    error instanceof RayPythonError &&
    error.pythonType === 'AttributeError' &&
    error.pythonMessage.includes("'ObjectRefGenerator' object");
  return isGenerator ? new RayGeneratorError(`${what} is a generator`) : error;
}

function onlyId([id]: readonly Uint8Array[], what: string): Uint8Array {
  if (id === undefined) throw new RayRequestError(2, `${what} returned no reference`);
  return id;
}
