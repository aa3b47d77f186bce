import { PyGlobal } from './pickle/values.ts';
import { writePickle, writeSourcePickle } from './pickle/writer.ts';

/** A Python function that Ray can run as a task. The same value serves any number of connections. */
export interface RemoteFunction {
  readonly kind: 'function';
  /** For messages: `module:qualname`, or the name within its source. */
  readonly label: string;
  readonly pickle: Uint8Array;
}

/** A Python class that Ray can make actors of. The same value serves any number of connections. */
export interface RemoteClass {
  readonly kind: 'class';
  readonly label: string;
  readonly pickle: Uint8Array;
}

const REFERENCE = /^(?<module>[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*):(?<qualname>[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*)$/;
const NAME = /^[A-Za-z_]\w*$/;

/** The function `module:qualname`, which must be importable on the cluster and written in Python. */
export function functionRef(reference: string): RemoteFunction {
  return { kind: 'function', label: reference, pickle: writePickle(parse(reference), { code: true }) };
}

/** The class `module:qualname`, which must be importable on the cluster. */
export function actorClass(reference: string): RemoteClass {
  return { kind: 'class', label: reference, pickle: writePickle(parse(reference), { code: true }) };
}

/** The function `name` defined by a Python source text; the cluster needs nothing of it in advance. */
export function sourceFunction(source: string, name: string): RemoteFunction {
  return { kind: 'function', label: name, pickle: sourcePickle(source, name) };
}

/** The class `name` defined by a Python source text; the cluster needs nothing of it in advance. */
export function sourceActorClass(source: string, name: string): RemoteClass {
  return { kind: 'class', label: name, pickle: sourcePickle(source, name) };
}

function parse(reference: string): PyGlobal {
  const groups = REFERENCE.exec(reference)?.groups;
  const module = groups?.module;
  const qualname = groups?.qualname;
  if (module === undefined || qualname === undefined) {
    throw new TypeError(`"${reference}" is no reference to Python code; write module:name`);
  }
  return new PyGlobal(module, qualname);
}

function sourcePickle(source: string, name: string): Uint8Array {
  if (!NAME.test(name)) throw new TypeError(`"${name}" is no Python name`);
  return writeSourcePickle(source, name);
}
