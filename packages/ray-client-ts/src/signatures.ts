import type { CallLimits } from './limits.ts';
import type { ObjectRef } from './references.ts';

/** A Python function or method as TypeScript sees it: its positional parameters and its value. Nothing checks it. */
export type Signature = (...args: never[]) => unknown;
/** The signature of a function that was not given one. */
export type AnySignature = (...args: unknown[]) => unknown;
/** The methods of an actor that was not given any. */
export type AnyMethods = Readonly<Record<string, AnySignature>>;
/** Arguments of a Python call, positional. */
export type Args = readonly unknown[];
/** Keyword arguments of a Python call. */
export type Kwargs = Readonly<Record<string, unknown>>;

/** Positional arguments; a reference stands for its value. */
export type Arguments<Parameters extends Args> = {
  readonly [Index in keyof Parameters]: Parameters[Index] | ObjectRef<Parameters[Index]>;
};
/** The value of a function. A coroutine counts as its value. */
export type Result<F extends Signature> = Awaited<ReturnType<F>>;
/** References to the values of a function that returns several: one for each element of a tuple. */
export type Results<F extends Signature> =
  Result<F> extends infer Values extends readonly unknown[] ? References<Values> : ObjectRef[];
type References<Values extends readonly unknown[]> = {
  -readonly [Index in keyof Values]: ObjectRef<Values[Index]>;
};
/** The method `Name` of an actor. */
export type MethodOf<Methods extends object, Name extends keyof Methods> = Extract<Methods[Name], Signature>;

/** For a function or a method that yields several values. */
export interface NumReturns {
  /** How many values: the function returns a sequence of that length, and each element becomes an object. */
  readonly numReturns: number;
}

/** What every call takes beside its positional arguments. */
export interface CallOptions extends CallLimits {
  /** Keyword arguments. */
  readonly kwargs?: Kwargs;
}

/**
 * What follows the function in a call: arguments and options, either of which can be omitted. Arguments are required if
 * the function requires some; declare parameters that are passed by keyword as optional.
 */
export type Call<Parameters extends Args, Options> = [] extends Parameters
  ? [options?: Options & CallOptions] | [args: Arguments<Parameters>, options?: Options & CallOptions]
  : [args: Arguments<Parameters>, options?: Options & CallOptions];
/** As {@link Call}, for a call that yields several values. */
export type ManyCall<Parameters extends Args, Options> =
  | [options: Options & NumReturns & CallOptions]
  | [args: Arguments<Parameters>, options: Options & NumReturns & CallOptions];

/** A call taken apart. */
export interface ReadCall<Options> {
  readonly args: Args;
  readonly kwargs: Kwargs;
  readonly limits: CallLimits;
  /** The other options. */
  readonly options: Options;
}

/** Takes apart what follows the function in a call. Throws TypeError for anything but `args?, options?`. */
export function readCall<Options extends object>(call: readonly unknown[]): ReadCall<Options> {
  const [first, second] = call;
  const args = Array.isArray(first) ? first : [];
  const given = Array.isArray(first) || first === undefined ? second : first;
  const unread = call.length > 2 || (given === first && second !== undefined);
  if (unread || (given !== undefined && !isOptions(given))) {
    throw new TypeError('a call takes an array of arguments, then an object of options (kwargs among them)');
  }
  const { kwargs = {}, timeoutMs, signal, ...options } = (given ?? {}) as CallOptions & Options;
  return { args, kwargs, limits: { timeoutMs, signal }, options: options as unknown as Options };
}

function isOptions(value: unknown): boolean {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
