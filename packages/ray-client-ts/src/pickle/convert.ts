import { RayPickleError } from '../errors.ts';
import { convertNumpy } from './numpy.ts';
import { PyDict, PyGlobal, PyObject, PyPersistentId, PyReadTuple, type RayStub } from './values.ts';

const MAX_DEPTH = 200;

/** How a caller steers {@link toJavaScript}. */
export interface ConvertOptions {
  /** Turns a reference (object, actor) into a handle. Without it references are errors. */
  readonly resolve?: (stub: RayStub) => unknown;
}

/**
 * Turns what {@link readPickle} yields into plain JavaScript: tuples become arrays, dictionaries become
 * objects (or a Map if a key is no string), numpy scalars become numbers, one-dimensional numpy arrays
 * become typed arrays (booleans: arrays). What is shared stays shared.
 * Throws {@link RayPickleError} naming the class of anything else, and for cycles.
 */
export function toJavaScript(node: unknown, options: ConvertOptions = {}): unknown {
  return convert({ options, done: new Map(), open: new Set() }, node);
}

interface Conversion {
  readonly options: ConvertOptions;
  readonly done: Map<object, unknown>;
  readonly open: Set<object>;
}

function convert(conversion: Conversion, node: unknown): unknown {
  if (typeof node !== 'object' || node === null || node instanceof Uint8Array) return node;
  const { done, open } = conversion;
  if (done.has(node)) return done.get(node);
  if (open.has(node)) throw new RayPickleError('the value contains itself');
  if (open.size >= MAX_DEPTH) throw new RayPickleError(`the value is nested deeper than ${MAX_DEPTH}`);
  open.add(node);
  const converted = convertObject(conversion, node);
  open.delete(node);
  done.set(node, converted);
  return converted;
}

function convertObject(conversion: Conversion, node: object): unknown {
  const inner = (value: unknown): unknown => convert(conversion, value);
  if (Array.isArray(node)) return node.map(inner);
  if (node instanceof PyReadTuple) return node.items.map(inner);
  if (node instanceof Set) return new Set([...node].map(inner));
  if (node instanceof PyDict) return convertEntries(node.entries, inner);
  if (node instanceof PyPersistentId) return convertReference(node, conversion.options);
  if (node instanceof PyGlobal)
    throw new RayPickleError(`a reference to ${node} arrived where a value was due`);
  if (node instanceof PyObject) return convertInstance(node, inner);
  throw new RayPickleError('something unknown arrived');
}

function convertEntries(
  entries: readonly [unknown, unknown][],
  inner: (value: unknown) => unknown,
): Record<string, unknown> | Map<unknown, unknown> {
  const plain = entries.every(([key]) => typeof key === 'string' && key !== '__proto__');
  if (!plain) return new Map(entries.map(([key, value]) => [inner(key), inner(value)]));
  return Object.fromEntries(entries.map(([key, value]) => [key, inner(value)]));
}

function convertReference(node: PyPersistentId, options: ConvertOptions): unknown {
  const stub = asStub(node.payload);
  if (options.resolve === undefined)
    throw new RayPickleError(`a reference (${stub.type}) arrived unexpectedly`);
  return options.resolve(stub);
}

function convertInstance(node: PyObject, inner: (value: unknown) => unknown): unknown {
  const name = className(node);
  const numpy = convertNumpy(name, node);
  if (numpy !== undefined) return numpy.value;
  if (name === 'collections.OrderedDict' || name === 'builtins.dict') {
    return convertEntries(node.items, inner);
  }
  throw new RayPickleError(`a value of type ${name} cannot be read`);
}

/** `module.qualname` of what an object is made from; `?` if that is no name. */
export function className(node: PyObject): string {
  if (node.callable instanceof PyGlobal) return node.callable.toString();
  // A class that travels by value: `_make_skeleton_class(type, name, …)`, perhaps inside `_class_setstate(…)`.
  let made = node.callable;
  for (let depth = 0; depth < 4 && made instanceof PyObject; depth++) {
    const [first, name] = elements(made.args);
    if (typeof name === 'string') return `__main__.${name}`;
    made = first;
  }
  return '?';
}

/** The elements of a read tuple or list; empty for anything else. */
export function elements(value: unknown): readonly unknown[] {
  if (value instanceof PyReadTuple) return value.items;
  return Array.isArray(value) ? value : [];
}

/**
 * The fields of Ray's PickleStub, in either form in which Ray writes it: made directly, or through
 * `copyreg._reconstructor(PickleStub, tuple, fields)`.
 */
function asStub(payload: unknown): RayStub {
  if (payload instanceof PyObject) {
    let fields = elements(payload.args);
    let made = className(payload);
    if (made === 'copyreg._reconstructor') {
      made = String(fields[0]);
      fields = elements(fields[2]);
    }
    const [type, clientId, id, name] = fields;
    const valid = typeof type === 'string' && typeof clientId === 'string' && id instanceof Uint8Array;
    if (made === 'ray.util.client.client_pickler.PickleStub' && valid) {
      return { type, clientId, id, name: typeof name === 'string' ? name : undefined };
    }
  }
  throw new RayPickleError('a reference of an unknown form arrived');
}
