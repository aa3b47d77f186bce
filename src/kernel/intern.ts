/** Texts laid end to end: text i is bytes[offsets[i]..offsets[i + 1]). */
export interface TextColumn {
  readonly bytes: Uint8Array;
  /** One more than there are texts, ascending, from 0 at the least to bytes.length at the most. */
  readonly offsets: Uint32Array;
}

/** What {@link internTexts} gives: an id for each text, and for each id the first text that has it. */
export interface InternedTexts {
  readonly ids: Int32Array;
  readonly count: number;
  readonly first: Int32Array;
}

/** Bytes of text that one call takes at most. */
const MAX_BYTES = 2 ** 31;

/**
 * Gives equal texts equal ids, dense, by first appearance. Texts are compared byte by byte: a hash (32 bits,
 * seeded per call) only finds the one to compare with. Linear in the bytes; beyond the result it takes 8 to 16
 * bytes per text. A column made to collide all the same is recognised by its long searches and done again with a
 * Map, some four times slower, still linear. Throws a RangeError on offsets that do not ascend or that leave the
 * bytes, and on 2 GiB of text or more.
 */
export function internTexts(column: TextColumn, seed: number = randomSeed()): InternedTexts {
  const { bytes, offsets } = column;
  const texts = Math.max(0, offsets.length - 1);
  if (bytes.length >= MAX_BYTES)
    throw new RangeError(`${bytes.length} bytes of text, fewer than ${MAX_BYTES} at a time`);
  checkOffsets(offsets, bytes.length);
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const ids = new Int32Array(texts);
  const first = new Int32Array(texts);
  const hashes = new Int32Array(texts);
  let table = new Int32Array(1024).fill(-1);
  let count = 0;
  let patience = PATIENCE * texts + 1024;
  for (let text = 0; text < texts; text++) {
    // Below 2 GiB offsets are int32, which is what keeps the hash in integer registers.
    const from = offsets[text]! | 0;
    const length = ((offsets[text + 1]! | 0) - from) | 0;
    const hash = hashBytes(view, from, length, seed);
    let slot = hash & (table.length - 1);
    let id = table[slot]!;
    while (id >= 0) {
      const holder = first[id]!;
      const at = offsets[holder]! | 0;
      if (
        hashes[id] === hash &&
        (((offsets[holder + 1]! | 0) - at) | 0) === length &&
        equalBytes(buffer, from, at, length)
      )
        break;
      if (--patience < 0) return internByMap(buffer, offsets);
      slot = (slot + 1) & (table.length - 1);
      id = table[slot]!;
    }
    if (id < 0) {
      id = count++;
      table[slot] = id;
      first[id] = text;
      hashes[id] = hash;
      if (2 * count > table.length) table = grown(table.length * 4, hashes, count);
    }
    ids[text] = id;
  }
  return { ids, count, first: first.slice(0, count) };
}

/** Steps beyond the first that a search may take, on average; below 1 at the load that the table has. */
const PATIENCE = 8;

/** V8 hashes strings with a secret of its own. One byte is one character, so equality is that of the bytes. */
function internByMap(buffer: Buffer, offsets: Uint32Array): InternedTexts {
  const idOf = new Map<string, number>();
  const ids = new Int32Array(offsets.length - 1);
  const first: number[] = [];
  for (let text = 0; text < ids.length; text++) {
    const key = buffer.toString('latin1', offsets[text]!, offsets[text + 1]!);
    let id = idOf.get(key);
    if (id === undefined) {
      id = first.push(text) - 1;
      idOf.set(key, id);
    }
    ids[text] = id;
  }
  return { ids, count: first.length, first: Int32Array.from(first) };
}

function grown(length: number, hashes: Int32Array, count: number): Int32Array<ArrayBuffer> {
  const table = new Int32Array(length).fill(-1);
  for (let id = 0; id < count; id++) {
    let slot = hashes[id]! & (length - 1);
    while (table[slot]! >= 0) slot = (slot + 1) & (length - 1);
    table[slot] = id;
  }
  return table;
}

const P = 0x9e3779b1 | 0;

/** Four lanes of 32 bits, so that the multiplications of one word do not wait for those of the one before. */
function hashBytes(view: DataView, from: number, length: number, seed: number): number {
  let a = (seed ^ length) | 0;
  let b = (seed + 0x85ebca77) | 0;
  let c = (seed ^ 0x27d4eb2f) | 0;
  let d = (seed + 0x165667b1) | 0;
  let at = from | 0;
  const end = (from + length) | 0;
  const whole = (end - 15) | 0;
  for (; at < whole; at = (at + 16) | 0) {
    a = Math.imul(a ^ view.getInt32(at, true), P);
    a = (a << 13) | (a >>> 19);
    b = Math.imul(b ^ view.getInt32(at + 4, true), P);
    b = (b << 13) | (b >>> 19);
    c = Math.imul(c ^ view.getInt32(at + 8, true), P);
    c = (c << 13) | (c >>> 19);
    d = Math.imul(d ^ view.getInt32(at + 12, true), P);
    d = (d << 13) | (d >>> 19);
  }
  for (; at < end; at++) {
    a = Math.imul(a ^ view.getUint8(at), P);
  }
  b = Math.imul(b ^ (a << 7) ^ (a >>> 25), P);
  c = Math.imul(c ^ (b << 9) ^ (b >>> 23), P);
  d = Math.imul(d ^ (c << 13) ^ (c >>> 19), P);
  d = Math.imul(d ^ (d >>> 16), 0x85ebca6b);
  d = Math.imul(d ^ (d >>> 13), 0xc2b2ae35);
  return d ^ (d >>> 16);
}

/** Where the native comparison, which costs some 40 ns to call, is ahead. */
const NATIVE_FROM = 96;

function equalBytes(buffer: Buffer, a: number, b: number, length: number): boolean {
  if (length >= NATIVE_FROM) return buffer.compare(buffer, a, a + length, b, b + length) === 0;
  for (let at = 0; at < length; at++) if (buffer[a + at] !== buffer[b + at]) return false;
  return true;
}

function checkOffsets(offsets: Uint32Array, end: number): void {
  let last = 0;
  for (let text = 0; text < offsets.length; text++) {
    const offset = offsets[text]!;
    if (offset < last || offset > end)
      throw new RangeError(`offset ${text} is ${offset}, not in ${last}..${end}`);
    last = offset;
  }
}

function randomSeed(): number {
  return (Math.random() * 2 ** 32) | 0;
}
