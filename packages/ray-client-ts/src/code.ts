import { PyGlobal } from './pickle/values.ts';
import { writePickle, writeSourcePickle } from './pickle/writer.ts';
import type { AnyMethods, AnySignature, Args, Signature } from './signatures.ts';

/**
 * A Python function that Ray can run as a task. The same value serves any number of connections. `F` is its signature,
 * which nothing checks.
 */
export interface RemoteFunction<F extends Signature = AnySignature> {
  readonly kind: 'function';
  /** For messages: `module:qualname`, or the name within its source. */
  readonly label: string;
  readonly pickle: Uint8Array;
  /** Only a type: carries `F`. */
  readonly signature?: F;
}

/**
 * A Python class that Ray can make actors of. The same value serves any number of connections. `Methods` are its methods
 * and `Parameters` those of its constructor; nothing checks them.
 */
export interface RemoteClass<Methods extends object = AnyMethods, Parameters extends Args = unknown[]> {
  readonly kind: 'class';
  /** For messages: `module:qualname`, or the name within its source. */
  readonly label: string;
  readonly pickle: Uint8Array;
  /** Only a type: carries `Methods` and `Parameters`. */
  readonly signature?: { readonly methods: Methods; readonly parameters: Parameters };
}

const REFERENCE = /^(?<module>[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*):(?<qualname>[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*)$/;
const NAME = /^[A-Za-z_]\w*$/;

/**
 * The function `module:qualname`, which must be importable on the cluster and written in Python:
 * `functionRef<(a: number, b: number) => number>('operations:add')`. Throws TypeError for anything but a reference.
 */
export function functionRef<F extends Signature = AnySignature>(reference: string): RemoteFunction<F> {
  return { kind: 'function', label: reference, pickle: referencePickle(reference) };
}

/** The class `module:qualname`, which must be importable on the cluster. Throws TypeError for anything but a reference. */
export function actorClass<Methods extends object = AnyMethods, Parameters extends Args = unknown[]>(
  reference: string,
): RemoteClass<Methods, Parameters> {
  return { kind: 'class', label: reference, pickle: referencePickle(reference) };
}

/**
 * The function `name` defined by a Python source text; the cluster needs nothing of it in advance. Throws TypeError for
 * anything but a Python name.
 */
export function sourceFunction<F extends Signature = AnySignature>(
  source: string,
  name: string,
): RemoteFunction<F> {
  return { kind: 'function', label: name, pickle: sourcePickle(source, name) };
}

/**
 * The class `name` defined by a Python source text; the cluster needs nothing of it in advance. Throws TypeError for
 * anything but a Python name.
 */
export function sourceActorClass<Methods extends object = AnyMethods, Parameters extends Args = unknown[]>(
  source: string,
  name: string,
): RemoteClass<Methods, Parameters> {
  return { kind: 'class', label: name, pickle: sourcePickle(source, name) };
}

/** `module:qualname` taken apart. Throws TypeError for anything else. */
export function parseReference(reference: string): { module: string; qualname: string } {
  const groups = REFERENCE.exec(reference)?.groups;
  const module = groups?.module;
  const qualname = groups?.qualname;
  if (module === undefined || qualname === undefined) {
    throw new TypeError(`"${reference}" is no reference to Python code; write module:name`);
  }
  return { module, qualname };
}

function referencePickle(reference: string): Uint8Array {
  const { module, qualname } = parseReference(reference);
  return writePickle(new PyGlobal(module, qualname), { code: true });
}

function sourcePickle(source: string, name: string): Uint8Array {
  if (!NAME.test(name)) throw new TypeError(`"${name}" is no Python name`);
  return writeSourcePickle(source, name);
}
