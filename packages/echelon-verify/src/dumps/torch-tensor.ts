/** Numbers in a torch file: Python lists, scalars and tensors. Only these classes are read; any other is refused by name. */

import { PyDict, PyGlobal, PyObject, PyPersistentId, PyReadTuple } from 'ray-client-ts/pickle/values';
import type { TorchFile } from './torch-zip.ts';

/** A value that holds no numbers in a form that is read. */
export class TensorError extends Error {
  override readonly name = 'TensorError';
}

/** Numbers of one tensor at most, and dimensions of it or of lists. */
const MAX_NUMBERS = 2 ** 22;
const MAX_DIMENSIONS = 16;

type Decoder = { readonly bytes: number; readonly read: (view: DataView, at: number) => number };

const STORAGES: Readonly<Record<string, Decoder>> = {
  FloatStorage: { bytes: 4, read: (view, at) => view.getFloat32(at, true) },
  DoubleStorage: { bytes: 8, read: (view, at) => view.getFloat64(at, true) },
  HalfStorage: { bytes: 2, read: (view, at) => float16(view.getUint16(at, true)) },
  BFloat16Storage: { bytes: 2, read: bfloat16 },
  LongStorage: { bytes: 8, read: (view, at) => Number(view.getBigInt64(at, true)) },
  IntStorage: { bytes: 4, read: (view, at) => view.getInt32(at, true) },
  ShortStorage: { bytes: 2, read: (view, at) => view.getInt16(at, true) },
  CharStorage: { bytes: 1, read: (view, at) => view.getInt8(at) },
  ByteStorage: { bytes: 1, read: (view, at) => view.getUint8(at) },
  BoolStorage: { bytes: 1, read: (view, at) => view.getUint8(at) },
};

/** The number of a half's bits: the DataView of Node 22 cannot read one. */
function float16(bits: number): number {
  const [exponent, fraction] = [(bits >> 10) & 0x1f, bits & 0x3ff];
  const sign = bits >> 15 === 0 ? 1 : -1;
  if (exponent === 0x1f) return fraction === 0 ? sign * Number.POSITIVE_INFINITY : Number.NaN;
  if (exponent === 0) return sign * fraction * 2 ** -24;
  return sign * (0x400 + fraction) * 2 ** (exponent - 25);
}

/** The first half of a float32. */
function bfloat16(view: DataView, at: number): number {
  const word = new DataView(new ArrayBuffer(4));
  word.setUint16(0, view.getUint16(at, true));
  return word.getFloat32(0);
}

/** The numbers of a scalar, a list or a tensor, flat; null is NaN. Throws a {@link TensorError}. */
export async function numbersIn(torch: TorchFile, value: unknown, depth = 0): Promise<number[]> {
  if (typeof value === 'number') return [value];
  if (typeof value === 'bigint' || typeof value === 'boolean') return [Number(value)];
  if (value === null) return [Number.NaN];
  const items = value instanceof PyReadTuple ? value.items : value;
  if (Array.isArray(items)) {
    if (depth === MAX_DIMENSIONS) throw new TensorError(`more than ${MAX_DIMENSIONS} lists in one another`);
    count(torch, items.length);
    const numbers: number[] = [];
    for (const item of items)
      for (const number of typeof item === 'number' ? [item] : await numbersIn(torch, item, depth + 1))
        numbers.push(number);
    return numbers;
  }
  if (value instanceof PyObject) return await tensorNumbers(torch, value);
  throw new TensorError(`expected numbers, found ${describe(value)}`);
}

/** A small pickle can hold one list or tensor any number of times, also inside itself. */
function count({ budget }: TorchFile, numbers: number): void {
  budget.left -= numbers + 1;
  if (budget.left < 0) throw new TensorError('more numbers than a file of this size holds');
}

async function tensorNumbers(torch: TorchFile, { callable, args }: PyObject): Promise<number[]> {
  const name = callable instanceof PyGlobal ? callable.toString() : '?';
  if (name !== 'torch._utils._rebuild_tensor_v2') throw new TensorError(`${name} is not read`);
  const [storage, offset, size, stride] = args instanceof PyReadTuple ? args.items : [];
  const { decoder, key } = storageOf(storage);
  const [sizes, strides] = [integers(size), integers(stride)];
  if (!isCount(offset) || sizes.length !== strides.length || sizes.length > MAX_DIMENSIONS)
    throw new TensorError('a tensor of unknown form');
  const numbers = sizes.reduce((product, own) => product * own, 1);
  if (numbers > MAX_NUMBERS)
    throw new TensorError(`a tensor of ${numbers} numbers, at most ${MAX_NUMBERS} are read`);
  count(torch, numbers);
  if (numbers === 0) return [];
  const end = sizes.reduce((last, own, i) => last + (own - 1) * strides[i]!, offset) + 1;
  if (!(end <= 4 * MAX_NUMBERS)) throw new TensorError(`a tensor that ends at ${end}`);
  const view = new DataView(await torch.storage(key, end * decoder.bytes));
  return Array.from({ length: numbers }, (_, i) =>
    decoder.read(view, placeOf(i, sizes, strides, offset) * decoder.bytes),
  );
}

/** Where the i-th number stands in the storage, last dimension fastest. */
function placeOf(i: number, sizes: readonly number[], strides: readonly number[], offset: number): number {
  let [place, rest] = [offset, i];
  for (let d = sizes.length - 1; d >= 0; d--) {
    place += (rest % sizes[d]!) * strides[d]!;
    rest = Math.floor(rest / sizes[d]!);
  }
  return place;
}

/** `('storage', torch.FloatStorage, key, device, length)` */
function storageOf(value: unknown): { decoder: Decoder; key: string } {
  const payload =
    value instanceof PyPersistentId && value.payload instanceof PyReadTuple ? value.payload.items : [];
  const [, type, key] = payload;
  const name = type instanceof PyGlobal ? type.toString() : '?';
  const decoder = name.startsWith('torch.') ? STORAGES[name.slice('torch.'.length)] : undefined;
  if (decoder === undefined || typeof key !== 'string') throw new TensorError(`storage ${name} is not read`);
  return { decoder, key };
}

function integers(value: unknown): number[] {
  const items = value instanceof PyReadTuple ? value.items : [];
  if (!items.every(isCount)) throw new TensorError('a tensor of unknown size');
  return items as number[];
}

function isCount(value: unknown): value is number {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0;
}

function describe(value: unknown): string {
  if (value instanceof PyDict) return 'a dictionary';
  return typeof value === 'string' ? 'a text' : 'another value';
}
