import { promisify } from 'node:util';
import { constants, zstdCompress } from 'node:zlib';
import { EchelonError } from '../../core/errors.ts';
import { digestOf } from './archive-keys.ts';
import { decompressed } from './decompress.ts';

/*
 * A segment has consecutive entries of a stream in two objects of the archive: the entries, and the bytes of their batch
 * parts, which can be deleted earlier. Both are compressed, after one line that names the format. Numbers are 32 bits,
 * little-endian:
 *   entries   for each: how many fields, then the id and each field as length and bytes
 *   parts     for each: length and bytes; the n-th belongs to the n-th entry whose payload is empty
 */
const ENTRIES = Buffer.from('echelon-events/1\n');
const PARTS = Buffer.from('echelon-parts/1\n');
/** A segment is closed once it holds so much, uncompressed. */
export const SEGMENT_BYTES = 4 * 1024 * 1024;
/** MAX decompressed bytes: one entry may exceed SEGMENT_BYTES by far, but never this. */
const LARGEST_OBJECT = 256 * 1024 * 1024;

/** A stored entry of a stream: type, time and event by name, and for a batch part its bytes or their digest. */
export interface RawEntry {
  id: string;
  fields: readonly Buffer[];
}

/** An object in the archive. `bytes`: its size there. */
interface ArchivedObject {
  digest: string;
  bytes: number;
}

/** A segment in the index of a stream: ids of its first and last entry, their number, and their objects. */
export interface Segment {
  first: string;
  last: string;
  count: number;
  entries: ArchivedObject;
  /** null: no entry had bytes. */
  parts: ArchivedObject | null;
}

/** The index of a stream as stored in the record: short, because it is read with each page. */
export function writeSegments(segments: readonly Segment[]): string {
  return JSON.stringify(
    segments.map(({ first, last, count, entries, parts }) => [
      first,
      last,
      count,
      entries.digest,
      entries.bytes,
      ...(parts === null ? [] : [parts.digest, parts.bytes]),
    ]),
  );
}

/** See {@link writeSegments}; '' and undefined: nothing is archived. */
export function readSegments(text: string | null | undefined): Segment[] {
  if (!text) return [];
  type Row = [string, string, number, string, number, string?, number?];
  return (JSON.parse(text) as Row[]).map(
    ([first, last, count, digest, bytes, partsDigest, partsBytes = 0]) => ({
      first,
      last,
      count,
      entries: { digest, bytes },
      parts: partsDigest === undefined ? null : { digest: partsDigest, bytes: partsBytes },
    }),
  );
}

/** The order of ids as in Redis: negative if `a` comes first. */
export function compareIds(a: string, b: string): number {
  const [highA, lowA] = a.split('-').map(BigInt);
  const [highB, lowB] = b.split('-').map(BigInt);
  const difference = highA === highB ? (lowA ?? 0n) - (lowB ?? 0n) : highA! - highB!;
  return difference < 0n ? -1 : difference > 0n ? 1 : 0;
}

/** Index of the event in the fields; for a batch part also of the payload's kind and the payload. */
const EVENT = 5;
const KIND = 6;
const PAYLOAD = 7;

/** Whether the entry has the bytes of a batch part. */
export function hasBytes({ fields }: RawEntry): boolean {
  return fields[KIND]?.toString() === 'b';
}

/** Bytes of a batch part that has an archived object of its own; 0 if the entry refers to none. */
export function longBytes({ fields }: RawEntry): number {
  if (fields[KIND]?.toString() !== 'k') return 0;
  const { bytes } = JSON.parse(fields[EVENT]!.toString()) as { bytes?: number };
  return typeof bytes === 'number' && bytes > 0 ? Math.trunc(bytes) : 0;
}

/** Bytes that an entry takes in a segment. */
export function sizeOf({ id, fields }: RawEntry): number {
  return fields.reduce((sum, field) => sum + 4 + field.length, 8 + id.length);
}

/** Packs entries; equal entries give equal objects. */
export async function packSegment(
  raw: readonly RawEntry[],
): Promise<{ segment: Segment; objects: { digest: string; bytes: Uint8Array }[] }> {
  const entries: Buffer[] = [];
  const parts: Buffer[] = [];
  for (const entry of raw) {
    const inline = hasBytes(entry);
    if (inline) parts.push(framed(entry.fields[PAYLOAD]!));
    entries.push(uint32(entry.fields.length), framed(Buffer.from(entry.id)));
    entry.fields.forEach((field, at) => {
      entries.push(framed(inline && at === PAYLOAD ? Buffer.alloc(0) : field));
    });
  }
  const objects = [await compressed(ENTRIES, entries)];
  if (parts.length > 0) objects.push(await compressed(PARTS, parts));
  const [first, second] = objects.map(({ digest, bytes }) => ({ digest, bytes: bytes.byteLength }));
  const segment = {
    first: raw[0]!.id,
    last: raw.at(-1)!.id,
    count: raw.length,
    entries: first!,
    parts: second ?? null,
  };
  return { segment, objects };
}

/** The entries of a segment; the payload of those with bytes is empty, see {@link unpackParts}. */
export async function unpackEntries(object: Uint8Array): Promise<RawEntry[]> {
  const bytes = await contentOf(ENTRIES, object);
  const entries: RawEntry[] = [];
  for (let at = 0; at < bytes.length; ) {
    const count = bytes.readUInt32LE(at);
    at += 4;
    const fields: Buffer[] = [];
    for (let field = 0; field <= count; field++) {
      const end = at + 4 + bytes.readUInt32LE(at);
      fields.push(bytes.subarray(at + 4, end));
      at = end;
    }
    entries.push({ id: fields[0]!.toString('latin1'), fields: fields.slice(1) });
  }
  return entries;
}

/** The bytes of the batch parts in a segment, in order. */
export async function unpackParts(object: Uint8Array): Promise<Buffer[]> {
  const bytes = await contentOf(PARTS, object);
  const parts: Buffer[] = [];
  for (let at = 0; at < bytes.length; ) {
    const end = at + 4 + bytes.readUInt32LE(at);
    parts.push(bytes.subarray(at + 4, end));
    at = end;
  }
  return parts;
}

function uint32(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32LE(value);
  return bytes;
}

function framed(bytes: Buffer): Buffer {
  return Buffer.concat([uint32(bytes.length), bytes]);
}

const compress = promisify(zstdCompress);

async function compressed(
  format: Buffer,
  pieces: readonly Buffer[],
): Promise<{ digest: string; bytes: Uint8Array }> {
  const params = { [constants.ZSTD_c_compressionLevel]: 6 };
  const bytes = Buffer.concat([format, await compress(Buffer.concat(pieces), { params })]);
  return { digest: digestOf(bytes), bytes };
}

async function contentOf(format: Buffer, object: Uint8Array): Promise<Buffer> {
  const bytes = Buffer.from(object.buffer, object.byteOffset, object.byteLength);
  if (!bytes.subarray(0, format.length).equals(format)) {
    throw new EchelonError(
      'internal',
      `An archived segment is not ${format.toString().trim()}; a later version of Echelon may have written it`,
    );
  }
  return await decompressed(bytes.subarray(format.length), LARGEST_OBJECT);
}
