/**
 * Python values that have no counterpart in JavaScript, for writing and for reading.
 * Nothing in this folder ever runs what a pickle names: globals and calls are inert data.
 */

/** A number that must arrive as a Python float although it is whole (`1.0`). */
export class PyFloat {
  readonly value: number;

  constructor(value: number) {
    this.value = value;
  }
}

/** A Python tuple, for places that take no list. Read tuples come as arrays. */
export class PyTuple {
  readonly items: readonly unknown[];

  constructor(...items: readonly unknown[]) {
    this.items = items;
  }
}

/** Something importable: `module` and a dotted `qualname`. */
export class PyGlobal {
  readonly module: string;
  readonly qualname: string;

  constructor(module: string, qualname: string) {
    this.module = module;
    this.qualname = qualname;
  }

  /** `module.qualname`. */
  toString(): string {
    return `${this.module}.${this.qualname}`;
  }
}

/** A call written into a pickle: Python performs it while loading. */
export class PyCall {
  readonly callable: PyGlobal | PyCall;
  readonly args: readonly unknown[];

  constructor(callable: PyGlobal | PyCall, ...args: readonly unknown[]) {
    this.callable = callable;
    this.args = args;
  }
}

/** A reference to an object or an actor of the session (Ray's PickleStub). */
export interface RayStub {
  readonly type: string;
  readonly clientId: string;
  readonly id: Uint8Array;
  readonly name: string | undefined;
}

/** A read dictionary, in order of arrival; a key set twice stands twice, the later one wins. */
export class PyDict {
  readonly entries: [unknown, unknown][] = [];

  /** The value of a key that is a string; undefined if absent. */
  get(key: string): unknown {
    return this.entries.findLast(([candidate]) => candidate === key)?.[1];
  }
}

/** A read object: what was to be called, with what, and the state that was to be set on it. */
export class PyObject {
  readonly callable: unknown;
  readonly args: unknown;
  state: unknown = undefined;
  readonly appended: unknown[] = [];
  readonly items: [unknown, unknown][] = [];

  constructor(callable: unknown, args: unknown) {
    this.callable = callable;
    this.args = args;
  }
}

/** A read persistent id: the payload says what it refers to. */
export class PyPersistentId {
  readonly payload: unknown;

  constructor(payload: unknown) {
    this.payload = payload;
  }
}

/** A read tuple, kept apart from lists until conversion. */
export class PyReadTuple {
  readonly items: readonly unknown[];

  constructor(items: readonly unknown[]) {
    this.items = items;
  }
}
