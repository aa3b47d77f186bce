import { RayPickleError } from '../errors.ts';
import { PyGlobal, PyObject, PyReadTuple } from './values.ts';

type NumberArray =
  | Int8Array
  | Uint8Array
  | Int16Array
  | Uint16Array
  | Int32Array
  | Uint32Array
  | BigInt64Array
  | BigUint64Array
  | Float32Array
  | Float64Array;

const ARRAYS: Readonly<Record<string, (buffer: ArrayBuffer) => NumberArray>> = {
  i1: (buffer) => new Int8Array(buffer),
  u1: (buffer) => new Uint8Array(buffer),
  b1: (buffer) => new Uint8Array(buffer),
  i2: (buffer) => new Int16Array(buffer),
  u2: (buffer) => new Uint16Array(buffer),
  i4: (buffer) => new Int32Array(buffer),
  u4: (buffer) => new Uint32Array(buffer),
  i8: (buffer) => new BigInt64Array(buffer),
  u8: (buffer) => new BigUint64Array(buffer),
  f2: halfPrecision,
  f4: (buffer) => new Float32Array(buffer),
  f8: (buffer) => new Float64Array(buffer),
};

// numpy 1 keeps its internals in numpy.core, numpy 2 in numpy._core.
const SCALAR = /^numpy\.(?:_core|core)\.multiarray\.scalar$/;
const FROM_BUFFER = /^numpy\.(?:_core|core)\.numeric\._frombuffer$/;
const RECONSTRUCT = /^numpy\.(?:_core|core)\.multiarray\._reconstruct$/;

/**
 * Recognises numpy's scalars and one-dimensional arrays of plain dtypes (little-endian integers, float16 to
 * float64, bool). Scalars become numbers (bigint beyond 2^53) or booleans; arrays become the typed array of
 * their dtype, float16 a Float32Array, booleans an array of booleans. Undefined: `name` is not numpy's.
 */
export function convertNumpy(name: string, node: PyObject): { value: unknown } | undefined {
  const args = tuple(node.args);
  if (SCALAR.test(name)) {
    const values = decode(dtypeCode(args[0]), bytesOf(args[1]));
    const value = values.length === 1 ? values[0] : undefined;
    if (value === undefined) throw new RayPickleError('a numpy scalar of a wrong size arrived');
    return { value: typeof value === 'bigint' && isSafe(value) ? Number(value) : value };
  }
  if (FROM_BUFFER.test(name)) {
    return { value: oneDimensional(args[2], decode(dtypeCode(args[1]), bytesOf(args[0]))) };
  }
  if (RECONSTRUCT.test(name)) {
    const [, shape, dtype, , data] = tuple(node.state);
    return { value: oneDimensional(shape, decode(dtypeCode(dtype), bytesOf(data))) };
  }
  return undefined;
}

function isSafe(value: bigint): boolean {
  return Number.isSafeInteger(Number(value));
}

function oneDimensional(shape: unknown, values: NumberArray | boolean[]): NumberArray | boolean[] {
  const dimensions = tuple(shape);
  if (dimensions.length !== 1 || dimensions[0] !== values.length) {
    throw new RayPickleError(`a numpy array of shape (${dimensions.join(', ')}) cannot be read`);
  }
  return values;
}

function decode(code: string, bytes: Uint8Array): NumberArray | boolean[] {
  const make = ARRAYS[code];
  const width = Number(code.slice(1));
  if (make === undefined || bytes.length % width !== 0) {
    throw new RayPickleError(`numpy data of dtype ${code} cannot be read`);
  }
  // A copy: the bytes lie unaligned in the pickle.
  const values = make(new Uint8Array(bytes).buffer);
  return code === 'b1' ? Array.from(values as Uint8Array, (value) => value !== 0) : values;
}

/** `f8` and the like from `numpy.dtype('f8', False, True)` with its state; big-endian is refused. */
function dtypeCode(node: unknown): string {
  const made = node instanceof PyObject && node.callable instanceof PyGlobal ? String(node.callable) : '';
  const code = node instanceof PyObject ? tuple(node.args)[0] : undefined;
  const order = node instanceof PyObject ? tuple(node.state)[1] : undefined;
  if (made !== 'numpy.dtype' || typeof code !== 'string') {
    throw new RayPickleError('a numpy dtype of an unknown form arrived');
  }
  if (order === '>') throw new RayPickleError(`numpy data of dtype >${code} (big-endian) cannot be read`);
  return code;
}

/** IEEE 754 binary16: sign, five bits of exponent, ten of fraction. Each is a float32 exactly. */
function halfPrecision(buffer: ArrayBuffer): Float32Array {
  return Float32Array.from(new Uint16Array(buffer), (bits) => {
    const sign = bits & 0x8000 ? -1 : 1;
    const exponent = (bits >> 10) & 0x1f;
    const fraction = bits & 0x3ff;
    if (exponent === 0x1f) return fraction === 0 ? sign * Number.POSITIVE_INFINITY : Number.NaN;
    if (exponent === 0) return sign * fraction * 2 ** -24;
    return sign * (1 + fraction / 1024) * 2 ** (exponent - 15);
  });
}

function bytesOf(node: unknown): Uint8Array {
  if (node instanceof Uint8Array) return node;
  throw new RayPickleError('numpy data that is not bytes arrived');
}

function tuple(node: unknown): readonly unknown[] {
  return node instanceof PyReadTuple ? node.items : [];
}
