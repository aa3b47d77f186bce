/**
 * Files of torch.save: a zip of stored entries, one of which is a pickle. The pickle is read as inert data: nothing that it
 * names is looked up or called.
 */

import { RayPickleError } from 'ray-client-ts/errors';
import { readPickle } from 'ray-client-ts/pickle/reader';
import { BatchFormatError } from '../format/format-error.ts';
import type { DumpSource } from './source.ts';

/** Bytes of the pickle at most. */
const MAX_PICKLE_BYTES = 2 ** 28;
const MAX_ENTRIES = 200_000;
/** Each number takes a byte at least, but a tensor can be one number expanded. */
const NUMBERS_PER_BYTE = 4;
const NUMBERS_OF_ANY = 2 ** 24;
const END_MARK = 0x06054b50;
const ENTRY_MARK = 0x02014b50;

/** Where a stored entry lies in the file. */
interface Entry {
  readonly name: string;
  readonly header: number;
  readonly bytes: number;
}

/** An opened file of torch.save. */
export interface TorchFile {
  /** The object, as the pickle reader gives it. */
  readonly value: unknown;
  /** Numbers that may still be read from it: more than an honest file of its size holds. */
  readonly budget: { left: number };
  /** The bytes of one storage. Throws a BatchFormatError if there are fewer than `bytes`. */
  storage(key: string, bytes: number): Promise<ArrayBuffer>;
}

/** True if the bytes begin as a zip file does. */
export function isZip(bytes: Uint8Array): boolean {
  return bytes[0] === 0x50 && bytes[1] === 0x4b && bytes[2] === 3 && bytes[3] === 4;
}

/** Reads the pickle of a torch file. Throws a BatchFormatError. */
export async function openTorchFile(source: DumpSource): Promise<TorchFile> {
  const entries = await entriesOf(source);
  const pickle = [...entries.values()].find(({ name }) => /^[^/]*\/data\.pkl$/.test(name));
  if (pickle === undefined) throw unreadable(source, 'a zip without data.pkl');
  if (pickle.bytes > MAX_PICKLE_BYTES) throw unreadable(source, `a pickle of ${pickle.bytes} bytes`);
  const folder = pickle.name.slice(0, pickle.name.indexOf('/'));
  return {
    value: await readInert(source, pickle),
    budget: { left: NUMBERS_OF_ANY + NUMBERS_PER_BYTE * source.byteLength },
    async storage(key, bytes) {
      const entry = entries.get(`${folder}/data/${key}`);
      if (entry === undefined || entry.bytes < bytes)
        throw unreadable(source, `no storage ${key} of ${bytes} bytes`);
      return await contentOf(source, { ...entry, bytes });
    },
  };
}

async function readInert(source: DumpSource, entry: Entry): Promise<unknown> {
  const bytes = new Uint8Array(await contentOf(source, entry));
  try {
    return readPickle(bytes);
  } catch (cause) {
    if (cause instanceof RayPickleError) throw unreadable(source, cause.message, cause);
    // The reader went past the end.
    if (cause instanceof RangeError)
      throw unreadable(source, 'a pickle that ends early or is damaged', cause);
    throw cause;
  }
}

async function entriesOf(source: DumpSource): Promise<Map<string, Entry>> {
  const tail = Buffer.from(await source.slice(Math.max(0, source.byteLength - 65_557)));
  const end = tail.lastIndexOf(Buffer.from([0x50, 0x4b, 5, 6]));
  if (end < 0 || end + 22 > tail.length || tail.readUInt32LE(end) !== END_MARK)
    throw unreadable(source, 'a zip that ends early');
  const { count, size, offset } = directoryOf(tail, end);
  if (count > MAX_ENTRIES || size > 2 ** 27) throw unreadable(source, `a zip of ${count} entries`);
  const directory = Buffer.from(await source.slice(offset, offset + size));
  const entries = new Map<string, Entry>();
  for (let at = 0, read = 0; read < count; read++) {
    if (at + 46 > directory.length || directory.readUInt32LE(at) !== ENTRY_MARK)
      throw unreadable(source, 'a damaged zip directory');
    const [nameBytes, extraBytes, noteBytes] = [28, 30, 32].map((field) =>
      directory.readUInt16LE(at + field),
    );
    const name = directory.toString('utf8', at + 46, at + 46 + nameBytes!);
    const extra = directory.subarray(at + 46 + nameBytes!, at + 46 + nameBytes! + extraBytes!);
    if (directory.readUInt16LE(at + 10) !== 0) throw unreadable(source, `a compressed entry ${name}`);
    entries.set(name, { name, ...placeOf(directory, at, extra) });
    at += 46 + nameBytes! + extraBytes! + noteBytes!;
  }
  return entries;
}

function directoryOf(tail: Buffer, end: number): { count: number; size: number; offset: number } {
  const wide = tail.lastIndexOf(Buffer.from([0x50, 0x4b, 6, 6]), end);
  if (wide < 0 || wide + 56 > tail.length) {
    return {
      count: tail.readUInt16LE(end + 10),
      size: tail.readUInt32LE(end + 12),
      offset: tail.readUInt32LE(end + 16),
    };
  }
  const [count, size, offset] = [32, 40, 48].map((field) => Number(tail.readBigUInt64LE(wide + field)));
  return { count: count!, size: size!, offset: offset! };
}

/** Sizes above 4 GiB stand in an extra field. */
function placeOf(directory: Buffer, at: number, extra: Buffer): { bytes: number; header: number } {
  let bytes = directory.readUInt32LE(at + 24);
  let header = directory.readUInt32LE(at + 42);
  const wide = wideFields(extra);
  if (bytes === 0xffffffff) bytes = Number(wide.shift() ?? 0n);
  if (directory.readUInt32LE(at + 20) === 0xffffffff) wide.shift();
  if (header === 0xffffffff) header = Number(wide.shift() ?? 0n);
  return { bytes, header };
}

function wideFields(extra: Buffer): bigint[] {
  for (let at = 0; at + 4 <= extra.length; at += 4 + extra.readUInt16LE(at + 2)) {
    if (extra.readUInt16LE(at) !== 1) continue;
    const field = extra.subarray(at + 4, at + 4 + extra.readUInt16LE(at + 2));
    return Array.from({ length: Math.floor(field.length / 8) }, (_, i) => field.readBigUInt64LE(8 * i));
  }
  return [];
}

async function contentOf(source: DumpSource, { header, bytes, name }: Entry): Promise<ArrayBuffer> {
  const local = Buffer.from(await source.slice(header, header + 30));
  if (local.length < 30) throw unreadable(source, `no entry ${name}`);
  const from = header + 30 + local.readUInt16LE(26) + local.readUInt16LE(28);
  const content = await source.slice(from, from + bytes);
  if (content.byteLength !== bytes) throw unreadable(source, `an entry ${name} that ends early`);
  return content;
}

function unreadable({ path }: DumpSource, found: string, cause?: unknown): BatchFormatError {
  const expected = 'a complete file of torch.save';
  return new BatchFormatError({ code: 'unreadable', file: path, expected, found }, { cause });
}
