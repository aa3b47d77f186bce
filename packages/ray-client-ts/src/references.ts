import { RayPickleError, RayRequestError } from './errors.ts';

/** Releases wait this long for company. */
const RELEASE_DELAY_MS = 10;
const RELEASE_BATCH = 64;

/**
 * A reference to an object in the cluster. It keeps the object there until it is released: explicitly with
 * `connection.release(ref)`, by the garbage collector, or by the end of the session. `Value` is what the caller expects
 * there; nothing checks it.
 */
export class ObjectRef<Value = unknown> {
  /** Only a type: carries `Value` from where the reference is made to `get`. */
  declare readonly expected?: Value;
  /** Raw id, 28 bytes. */
  readonly id: Uint8Array;

  constructor(id: Uint8Array) {
    this.id = id;
  }

  /** The id in hexadecimal. */
  get hex(): string {
    return idKey(this.id);
  }
}

/** The reference of what yields one value; throws {@link RayRequestError} if the server returned none. */
export function onlyRef(refs: readonly ObjectRef[], what: string): ObjectRef {
  const [ref] = refs;
  if (ref === undefined) throw new RayRequestError(2, `${what} returned no reference`);
  return ref;
}

/** An id in hexadecimal, fit to be a key. */
export function idKey(id: Uint8Array): string {
  return Buffer.from(id.buffer, id.byteOffset, id.byteLength).toString('hex');
}

/**
 * What this session holds in the cluster. The server knows each id once, however many references there are
 * here, so they are counted here and the id is released with the last one.
 */
export class ReferenceTable {
  readonly #send: (ids: Uint8Array[]) => Promise<unknown>;
  readonly #counts = new Map<string, number>();
  readonly #live = new WeakSet<object>();
  readonly #finalizers = new FinalizationRegistry<Uint8Array>((id) => this.#drop(id));
  #waiting: Uint8Array[] = [];
  #timer: NodeJS.Timeout | undefined;
  #flushing: Promise<void> | undefined;
  #sent: Promise<unknown> = Promise.resolve();

  /** `send` tells the server; its failure means that the session is over, and with it every hold. */
  constructor(send: (ids: Uint8Array[]) => Promise<unknown>) {
    this.#send = send;
  }

  /** How many ids are held. */
  get size(): number {
    return this.#counts.size;
  }

  /** Counts a hold on `id` for the lifetime of `holder`; `collect`: given up by the garbage collector too. */
  hold<Holder extends { readonly id: Uint8Array }>(
    holder: Holder,
    { collect }: { collect: boolean },
  ): Holder {
    const id = Uint8Array.from(holder.id);
    const key = idKey(id);
    this.#counts.set(key, (this.#counts.get(key) ?? 0) + 1);
    this.#live.add(holder);
    if (collect) this.#finalizers.register(holder, id, holder);
    return holder;
  }

  /** Whether `holder` holds an id of this session. */
  has(holder: object): boolean {
    return this.#live.has(holder);
  }

  /** Throws if `holder` was released or belongs to another session: the server would end ours. */
  assertHeld(holder: object): void {
    if (!this.#live.has(holder)) {
      throw new RayPickleError('a reference that was released, or belongs to another connection, was used');
    }
  }

  /** Gives up a hold; the server hears of it soon, in company. Does nothing the second time. */
  release(holder: { readonly id: Uint8Array }): void {
    if (!this.#live.delete(holder)) return;
    this.#finalizers.unregister(holder);
    this.#drop(holder.id);
  }

  /**
   * Tells the server what was given up, and waits for its answer. Calls of one moment share a message: each message
   * costs the server as much as a task.
   */
  flush(): Promise<void> {
    this.#flushing ??= Promise.resolve().then(() => {
      this.#flushing = undefined;
      return this.#flushNow();
    });
    return this.#flushing;
  }

  /** Answers come in order, so the latest one stands for all before it. */
  async #flushNow(): Promise<void> {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    const ids = this.#waiting;
    if (ids.length > 0) {
      this.#waiting = [];
      this.#sent = this.#send(ids);
    }
    await this.#sent;
  }

  #drop(id: Uint8Array): void {
    const key = idKey(id);
    const left = (this.#counts.get(key) ?? 1) - 1;
    if (left > 0) return void this.#counts.set(key, left);
    this.#counts.delete(key);
    this.#waiting.push(id);
    if (this.#waiting.length >= RELEASE_BATCH) this.#flushQuietly();
    else this.#timer ??= setTimeout(() => this.#flushQuietly(), RELEASE_DELAY_MS).unref();
  }

  #flushQuietly(): void {
    this.#flushNow().catch(() => {});
  }
}
