import { RayPickleError } from '../errors.ts';
import { OP } from './opcodes.ts';
import { PyCall, PyFloat, PyGlobal, PyTuple, type RayStub } from './values.ts';

/** How a caller steers {@link writePickle}. */
export interface WriteOptions {
  /** Turns a handle (object reference, actor) into what it is called on the wire; undefined: it is none. */
  readonly stub?: (value: object) => RayStub | undefined;
  /** Allows {@link PyGlobal} and {@link PyCall}. Off for arguments: a name that does not load ends a session. */
  readonly code?: boolean;
}

const MAX_DEPTH = 200;
const STUB_CLASS = new PyGlobal('ray.util.client.client_pickler', 'PickleStub');

/**
 * Writes a pickle of protocol 4 that every Python 3 loads.
 *
 * Takes null, booleans, numbers (whole numbers become int, others float), bigint, strings, Uint8Array
 * (bytes), other typed arrays (numpy arrays), arrays (list), Set, Map and plain objects (dict; `undefined` members are omitted),
 * {@link PyFloat}, {@link PyTuple}, and handles named by `options.stub`. Anything else, a cycle, a lone
 * surrogate or a depth beyond 200 is a {@link RayPickleError} that names the place.
 */
export function writePickle(value: unknown, options: WriteOptions = {}): Uint8Array {
  const out = new PickleBuffer();
  out.byte(OP.PROTO, 4);
  writeValue({ out, options, open: new Set() }, value, '$');
  out.byte(OP.STOP);
  return out.finish();
}

interface Writing {
  readonly out: PickleBuffer;
  readonly options: WriteOptions;
  /** Containers that are being written: meeting one again is a cycle. */
  readonly open: Set<object>;
}

function writeValue(writing: Writing, value: unknown, path: string): void {
  const { out } = writing;
  if (value === null) out.byte(OP.NONE);
  else if (typeof value === 'boolean') out.byte(value ? OP.NEWTRUE : OP.NEWFALSE);
  else if (typeof value === 'number') writeNumber(out, value);
  else if (typeof value === 'bigint') writeBigInt(out, value);
  else if (typeof value === 'string') writeString(out, value, path);
  else if (value instanceof Uint8Array) writeBytes(out, value);
  else if (typeof value === 'object') writeObject(writing, value, path);
  else throw new RayPickleError(`${path}: a value of type ${typeof value} cannot be sent to Python`);
}

function writeObject(writing: Writing, value: object, path: string): void {
  const { options, open } = writing;
  const stub = options.stub?.(value);
  if (open.has(value)) throw new RayPickleError(`${path}: the value contains itself`);
  if (open.size >= MAX_DEPTH) {
    throw new RayPickleError(`${path.slice(0, 40)}…: nested deeper than ${MAX_DEPTH}`);
  }
  open.add(value);
  if (stub !== undefined) writeStub(writing, stub, path);
  else if (value instanceof PyFloat) writing.out.float(value.value);
  else if (Array.isArray(value)) writeList(writing, value, path);
  else if (value instanceof PyTuple) writeTuple(writing, value.items, path);
  else if (value instanceof Map) writeDict(writing, value, path);
  else if (value instanceof Set) writeSet(writing, value, path);
  else if (value instanceof PyGlobal) writeGlobal(writing, value, path);
  else if (value instanceof PyCall) writeCall(writing, value, path);
  else if (ArrayBuffer.isView(value)) writeTypedArray(writing, value, path);
  else if (isPlain(value)) writeDict(writing, definedEntries(value), path);
  else throw notSendable(value, path);
  open.delete(value);
}

function notSendable(value: object, path: string): RayPickleError {
  const name = value.constructor?.name ?? 'unknown';
  return new RayPickleError(`${path}: an object of class ${name} cannot be sent to Python`);
}

/** The dtype of a typed array in numpy, little-endian. */
const DTYPES: Readonly<Record<string, string>> = {
  Int8Array: '<i1',
  Int16Array: '<i2',
  Uint16Array: '<u2',
  Int32Array: '<i4',
  Uint32Array: '<u4',
  BigInt64Array: '<i8',
  BigUint64Array: '<u8',
  Float32Array: '<f4',
  Float64Array: '<f8',
};

/** A numpy array of one dimension, which Ray makes read-only. The cluster needs numpy. */
function writeTypedArray(writing: Writing, value: ArrayBufferView, path: string): void {
  const dtype = DTYPES[value.constructor.name];
  if (dtype === undefined) throw notSendable(value, path);
  const bytes = new Uint8Array(value.buffer, value.byteOffset, value.byteLength);
  const call = new PyCall(new PyGlobal('numpy', 'frombuffer'), bytes, dtype);
  writeCall({ ...writing, options: { code: true } }, call, path);
}

function isPlain(value: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null;
}

function definedEntries(value: object): [string, unknown][] {
  return Object.entries(value).filter(([, member]) => member !== undefined);
}

function writeNumber(out: PickleBuffer, value: number): void {
  // Whole numbers beyond 2^53 are approximations: what the sender holds is a float.
  if (!Number.isSafeInteger(value) || Object.is(value, -0)) out.float(value);
  else if (value >= 0 && value < 2 ** 8) out.byte(OP.BININT1, value);
  else if (value >= 0 && value < 2 ** 16) out.byte(OP.BININT2, value & 0xff, value >> 8);
  else if (value >= -(2 ** 31) && value < 2 ** 31) out.int32(value);
  else writeBigInt(out, BigInt(value));
}

function writeBigInt(out: PickleBuffer, value: bigint): void {
  const bytes: number[] = [];
  let rest = value;
  // Little-endian two's complement, as short as the sign bit allows.
  for (;;) {
    const low = Number(BigInt.asUintN(8, rest));
    bytes.push(low);
    rest >>= 8n;
    if ((rest === 0n && low < 0x80) || (rest === -1n && low >= 0x80)) break;
  }
  if (value === 0n) bytes.length = 0;
  if (bytes.length > 255) throw new RayPickleError('an integer of more than 2040 bits cannot be sent');
  out.byte(OP.LONG1, bytes.length, ...bytes);
}

function writeString(out: PickleBuffer, value: string, path: string): void {
  if (!value.isWellFormed()) throw new RayPickleError(`${path}: the string holds a lone surrogate`);
  const bytes = Buffer.from(value, 'utf8');
  if (bytes.length < 256) out.byte(OP.SHORT_BINUNICODE, bytes.length);
  else out.sized(OP.BINUNICODE, bytes.length);
  out.bytes(bytes);
}

function writeBytes(out: PickleBuffer, value: Uint8Array): void {
  if (value.length < 256) out.byte(OP.SHORT_BINBYTES, value.length);
  else if (value.length < 2 ** 32) out.sized(OP.BINBYTES, value.length);
  else throw new RayPickleError('bytes of 4 GiB or more cannot be sent');
  out.bytes(value);
}

function writeList(writing: Writing, items: readonly unknown[], path: string): void {
  writing.out.byte(OP.EMPTY_LIST);
  if (items.length === 0) return;
  writing.out.byte(OP.MARK);
  for (const [index, item] of items.entries()) writeValue(writing, item, `${path}[${index}]`);
  writing.out.byte(OP.APPENDS);
}

function writeSet(writing: Writing, items: Set<unknown>, path: string): void {
  writing.out.byte(OP.EMPTY_SET);
  if (items.size === 0) return;
  writing.out.byte(OP.MARK);
  for (const item of items) writeValue(writing, hashable(item, path), `${path}{}`);
  writing.out.byte(OP.ADDITEMS);
}

function writeDict(writing: Writing, entries: Iterable<[unknown, unknown]>, path: string): void {
  writing.out.byte(OP.EMPTY_DICT);
  let open = false;
  for (const [key, item] of entries) {
    if (!open) writing.out.byte(OP.MARK);
    open = true;
    writeValue(writing, hashable(key, path), `${path}{key}`);
    writeValue(writing, item, `${path}.${String(key)}`);
  }
  if (open) writing.out.byte(OP.SETITEMS);
}

/** Python refuses unhashable keys while loading, and inside arguments that would end the session. */
function hashable(key: unknown, path: string): unknown {
  const scalar = key === null || ['boolean', 'bigint', 'string'].includes(typeof key);
  if (scalar || key instanceof Uint8Array || key instanceof PyFloat) return key;
  if (typeof key === 'number' && !Number.isNaN(key)) return key;
  if (key instanceof PyTuple) return new PyTuple(...key.items.map((item) => hashable(item, path)));
  throw new RayPickleError(`${path}: only scalars, bytes and tuples of them can be keys`);
}

function writeTuple(writing: Writing, items: readonly unknown[], path: string): void {
  const { out } = writing;
  if (items.length > 3) out.byte(OP.MARK);
  for (const [index, item] of items.entries()) writeValue(writing, item, `${path}[${index}]`);
  out.byte([OP.EMPTY_TUPLE, OP.TUPLE1, OP.TUPLE2, OP.TUPLE3][items.length] ?? OP.TUPLE);
}

function writeGlobal(writing: Writing, value: PyGlobal, path: string): void {
  if (writing.options.code !== true) {
    throw new RayPickleError(`${path}: code (${value}) is not allowed inside values`);
  }
  writeString(writing.out, value.module, path);
  writeString(writing.out, value.qualname, path);
  writing.out.byte(OP.STACK_GLOBAL);
}

function writeCall(writing: Writing, value: PyCall, path: string): void {
  writeValue(writing, value.callable, path);
  writeTuple(writing, value.args, path);
  writing.out.byte(OP.REDUCE);
}

function writeStub(writing: Writing, stub: RayStub, path: string): void {
  writeGlobal({ ...writing, options: { code: true } }, STUB_CLASS, path);
  writeTuple(writing, [stub.type, stub.clientId, stub.id, stub.name ?? null, null], path);
  writing.out.byte(OP.NEWOBJ, OP.BINPERSID);
}

/**
 * A pickle that runs `source` as a module of its own and yields the `name` it defines.
 * The module is called `__main__`, so Ray carries what it defines by value to every process.
 */
export function writeSourcePickle(source: string, name: string): Uint8Array {
  const out = new PickleBuffer();
  const writing: Writing = { out, options: { code: true }, open: new Set() };
  out.byte(OP.PROTO, 4);
  writeGlobal(writing, new PyGlobal('builtins', 'exec'), '$');
  writeString(out, source, '$source');
  out.byte(OP.EMPTY_DICT, OP.MEMOIZE);
  writeString(out, '__name__', '$');
  writeString(out, '__main__', '$');
  out.byte(OP.SETITEM, OP.TUPLE2, OP.REDUCE, OP.POP);
  writeGlobal(writing, new PyGlobal('operator', 'getitem'), '$');
  out.byte(OP.BINGET, 0);
  writeString(out, name, '$name');
  out.byte(OP.TUPLE2, OP.REDUCE, OP.STOP);
  return out.finish();
}

/** A growing run of bytes. */
class PickleBuffer {
  #bytes = Buffer.allocUnsafe(256);
  #length = 0;

  byte(...values: readonly number[]): void {
    this.#reserve(values.length);
    for (const value of values) this.#bytes[this.#length++] = value;
  }

  int32(value: number): void {
    this.byte(OP.BININT);
    this.#reserve(4);
    this.#length = this.#bytes.writeInt32LE(value, this.#length);
  }

  float(value: number): void {
    this.byte(OP.BINFLOAT);
    this.#reserve(8);
    this.#length = this.#bytes.writeDoubleBE(value, this.#length);
  }

  /** An opcode, then a length of four bytes. */
  sized(opcode: number, length: number): void {
    this.byte(opcode);
    this.#reserve(4);
    this.#length = this.#bytes.writeUInt32LE(length, this.#length);
  }

  bytes(values: Uint8Array): void {
    this.#reserve(values.length);
    this.#bytes.set(values, this.#length);
    this.#length += values.length;
  }

  finish(): Uint8Array {
    return this.#bytes.subarray(0, this.#length);
  }

  #reserve(count: number): void {
    const needed = this.#length + count;
    if (needed <= this.#bytes.length) return;
    const grown = Buffer.allocUnsafe(Math.max(needed + 64, this.#bytes.length * 2));
    this.#bytes.copy(grown, 0, 0, this.#length);
    this.#bytes = grown;
  }
}
