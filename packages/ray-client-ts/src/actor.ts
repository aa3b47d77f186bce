import type { CallLimits } from './limits.ts';
import type { MethodOptions } from './options.ts';
import { idKey, type ObjectRef, onlyRef } from './references.ts';
import {
  type AnyMethods,
  type Call,
  type ManyCall,
  type MethodOf,
  type ReadCall,
  type Result,
  type Results,
  readCall,
} from './signatures.ts';

/** A call of a method, as it reaches the connection. */
export type MethodCall = ReadCall<MethodOptions>;

/** What an actor's handle needs of its connection. */
export interface ActorCalls {
  submit(actor: ActorHandle<object>, method: string, call: MethodCall): Promise<ObjectRef[]>;
  call(actor: ActorHandle<object>, method: string, call: MethodCall): Promise<unknown>;
  kill(actor: ActorHandle<object>, noRestart: boolean, limits: CallLimits): Promise<void>;
  release(actor: ActorHandle<object>, limits: CallLimits): Promise<void>;
}

/**
 * A handle on an actor with these `Methods`. The garbage collector does not end actors: kill the actor, release the
 * handle, or close the connection (which ends every actor that is not detached).
 */
export class ActorHandle<Methods extends object = AnyMethods> {
  /** Only a type: carries `Methods`. */
  declare readonly methods?: Methods;
  /** Raw id, 16 bytes. */
  readonly id: Uint8Array;
  /** The name under which the actor was created or found. */
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
   * Calls a method and waits for its value; with `numReturns`, for its values. `timeoutMs` and `signal` cover the whole
   * call; the method continues in the actor after either. Calls of one handle reach the actor in the order made.
   * Throws RayPythonError for what the method raises, RayActorDiedError, RayTimeoutError, RaySessionLostError.
   */
  call<Name extends keyof Methods & string>(
    method: Name,
    ...call: Call<Parameters<MethodOf<Methods, Name>>, MethodOptions>
  ): Promise<Result<MethodOf<Methods, Name>>>;
  async call(method: string, ...call: readonly unknown[]): Promise<unknown> {
    return this.#calls.call(this, method, readCall(call));
  }

  /**
   * Calls a method and yields a reference to its value, without waiting for the value; with `numReturns` a reference to
   * each of its values. Throws RayPythonError if the method does not exist or takes other arguments.
   */
  submit<Name extends keyof Methods & string>(
    method: Name,
    ...call: ManyCall<Parameters<MethodOf<Methods, Name>>, MethodOptions>
  ): Promise<Results<MethodOf<Methods, Name>>>;
  submit<Name extends keyof Methods & string>(
    method: Name,
    ...call: Call<Parameters<MethodOf<Methods, Name>>, MethodOptions>
  ): Promise<ObjectRef<Result<MethodOf<Methods, Name>>>>;
  async submit(method: string, ...call: readonly unknown[]): Promise<unknown> {
    const read = readCall<MethodOptions>(call);
    const refs = await this.#calls.submit(this, method, read);
    return read.options.numReturns === undefined ? onlyRef(refs, method) : refs;
  }

  /** Resolves once the actor's constructor has returned. Throws RayActorDiedError if the constructor raised. */
  async ready(limits: CallLimits = {}): Promise<void> {
    await this.#calls.call(this, '__ray_ready__', { args: [], kwargs: {}, limits, options: {} });
  }

  /** Ends the actor, detached or not. `noRestart: false` lets `maxRestarts` bring it back. */
  kill({ noRestart = true, ...limits }: { readonly noRestart?: boolean } & CallLimits = {}): Promise<void> {
    return this.#calls.kill(this, noRestart, limits);
  }

  /** Gives up this handle. An actor that is neither named nor detached ends with its last handle. */
  release(limits: CallLimits = {}): Promise<void> {
    return this.#calls.release(this, limits);
  }
}
