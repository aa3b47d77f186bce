import { idKey, type ObjectRef, onlyRef } from './references.ts';

/** What an actor's handle needs of its connection. */
export interface ActorCalls {
  submit(actor: ActorHandle, method: string, call: MethodCall): Promise<ObjectRef[]>;
  call(actor: ActorHandle, method: string, call: MethodCall): Promise<unknown>;
  kill(actor: ActorHandle, noRestart: boolean): Promise<void>;
  release(actor: ActorHandle): Promise<void>;
}

/** Arguments of a method. */
export interface MethodCall {
  readonly args: readonly unknown[];
  readonly kwargs: Readonly<Record<string, unknown>>;
  readonly timeoutMs?: number | undefined;
  /** How many values it yields, each an object of its own; absent: one. */
  readonly numReturns?: number | undefined;
}

/** Limits of one call. */
export interface MethodCallOptions {
  /** For the whole call. What was started goes on in the actor after a timeout. */
  readonly timeoutMs?: number;
}

/** For a method that yields several values. */
export interface NumReturns {
  /** How many values it yields: the method returns a sequence of that length, and each becomes an object. */
  readonly numReturns: number;
}

/**
 * A handle on an actor. The garbage collector does not end actors: kill it, release it, or close the
 * connection (which ends every actor that is not detached).
 */
export class ActorHandle {
  /** Raw id, 16 bytes. */
  readonly id: Uint8Array;
  /** The name it was created or found under. */
  readonly name: string | undefined;
  readonly #calls: ActorCalls;

  constructor(id: Uint8Array, name: string | undefined, calls: ActorCalls) {
    this.id = id;
    this.name = name;
    this.#calls = calls;
  }

  /** The id in hexadecimal. */
  get hex(): string {
    return idKey(this.id);
  }

  /**
   * Calls a method and waits for its value. Calls of one handle reach the actor in the order made.
   * Throws RayPythonError for what the method raises, RayActorDiedError, RayTimeoutError, RaySessionLostError.
   */
  call(
    method: string,
    args: readonly unknown[] = [],
    kwargs: Readonly<Record<string, unknown>> = {},
    { timeoutMs }: MethodCallOptions = {},
  ): Promise<unknown> {
    return this.#calls.call(this, method, { args, kwargs, timeoutMs });
  }

  /**
   * Calls a method and yields a reference to its value, without waiting for it; with `numReturns` a reference to
   * each of its values.
   */
  submit(
    method: string,
    args?: readonly unknown[],
    kwargs?: Readonly<Record<string, unknown>>,
  ): Promise<ObjectRef>;
  submit(
    method: string,
    args: readonly unknown[],
    kwargs: Readonly<Record<string, unknown>>,
    options: NumReturns,
  ): Promise<ObjectRef[]>;
  async submit(
    method: string,
    args: readonly unknown[] = [],
    kwargs: Readonly<Record<string, unknown>> = {},
    { numReturns }: Partial<NumReturns> = {},
  ): Promise<ObjectRef | ObjectRef[]> {
    const refs = await this.#calls.submit(this, method, { args, kwargs, numReturns });
    return numReturns === undefined ? onlyRef(refs, method) : refs;
  }

  /** Resolves once the actor's constructor has returned; throws RayActorDiedError where it raised. */
  async ready({ timeoutMs }: MethodCallOptions = {}): Promise<void> {
    await this.#calls.call(this, '__ray_ready__', { args: [], kwargs: {}, timeoutMs });
  }

  /** Ends the actor, detached or not. `noRestart: false` lets `maxRestarts` bring it back. */
  kill({ noRestart = true }: { readonly noRestart?: boolean } = {}): Promise<void> {
    return this.#calls.kill(this, noRestart);
  }

  /** Gives up this handle; an actor that is neither named nor detached ends with its last handle. */
  release(): Promise<void> {
    return this.#calls.release(this);
  }
}
