/**
 * Looks through the encoded values of a page before they are decoded. The decoder takes run lengths, sizes of blocks and
 * lengths of literals as they are stated: a negative one makes it read the same bytes for ever, a large one write far more
 * values than the page has.
 */

import type { ColumnMetaData, PageHeader, SchemaTree } from 'hyparquet';
import { getMaxDefinitionLevel, getMaxRepetitionLevel } from 'hyparquet/src/schema.js';
import { snappyUncompress } from 'hyparquet/src/snappy.js';
import { readVarInt } from 'hyparquet/src/thrift.js';

/** A page whose encoded values cannot be what its header states. */
export class PageError extends Error {
  override readonly name = 'PageError';
}

/** What the check needs to know of a column. */
export interface PageColumn {
  readonly meta: Pick<ColumnMetaData, 'type' | 'codec'>;
  readonly path: SchemaTree[];
  /** Unpacks the content of a page. */
  readonly unpack: (packed: Uint8Array, bytes: number) => Uint8Array;
}

interface Cursor {
  readonly view: DataView;
  offset: number;
}

/** Values of a run of packed values, of which the last ones may be padding. */
const PACK = 8;

/** Throws a {@link PageError} for values that would not be decoded in the time that their number takes. */
export function checkPageContent(packed: Uint8Array, header: PageHeader, column: PageColumn): void {
  const { data_page_header: first, data_page_header_v2: second } = header;
  const levels = [getMaxRepetitionLevel(column.path), getMaxDefinitionLevel(column.path)] as const;
  if (first !== undefined) {
    const cursor = cursorOn(column.unpack(packed, header.uncompressed_page_size));
    for (const level of levels)
      if (level > 0) checkRuns(cursor, { width: widthOf(level), values: first.num_values });
    checkValues(cursor, {
      ...column.meta,
      encoding: first.encoding,
      values: first.num_values,
      isSecond: false,
    });
  } else if (second !== undefined) {
    const { repetition_levels_byte_length: ofLists, definition_levels_byte_length: ofValues } = second;
    const { num_values: values, encoding, is_compressed: isPacked } = second;
    const cursor = cursorOn(packed);
    for (const [at, bytes] of [ofLists, ofValues].entries()) {
      cursor.offset = at === 0 ? 0 : ofLists;
      if (levels[at]! > 0) checkRuns(cursor, { width: widthOf(levels[at]!), values, bytes });
    }
    const rest = packed.subarray(ofLists + ofValues);
    const size = header.uncompressed_page_size - ofLists - ofValues;
    const content = isPacked === false ? rest : column.unpack(rest, size);
    checkValues(cursorOn(content), {
      ...column.meta,
      encoding,
      values: values - second.num_nulls,
      isSecond: true,
    });
  }
}

const cursorOn = (bytes: Uint8Array): Cursor => ({
  view: new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength),
  offset: 0,
});

const widthOf = (level: number): number => 32 - Math.clz32(level);

interface Values {
  readonly type: string;
  readonly encoding: string;
  readonly values: number;
  /** Of a page of the second version. */
  readonly isSecond: boolean;
}

function checkValues(cursor: Cursor, { type, encoding, values, isSecond }: Values): void {
  if (cursor.offset >= cursor.view.byteLength) return;
  if (encoding === 'RLE' && type === 'BOOLEAN') checkRuns(cursor, { width: 1, values });
  else if (['RLE', 'PLAIN_DICTIONARY', 'RLE_DICTIONARY'].includes(encoding)) {
    const width = cursor.view.getUint8(cursor.offset++);
    const bytes = cursor.view.byteLength - cursor.offset;
    // In a page of the first version, values without bits have no runs.
    if (width > 0 || isSecond) checkRuns(cursor, { width, values, bytes });
  } else if (/^DELTA_/.test(encoding)) checkBlocks(cursor);
}

/**
 * Runs of equal values and of packed ones, after their size in bytes if `bytes` does not state it. Each takes a byte at
 * least, so that only their lengths can hold the decoder up. As the decoder does, it reads runs past their size.
 */
function checkRuns(
  cursor: Cursor,
  { width, values, bytes }: { width: number; values: number; bytes?: number },
): void {
  const { view } = cursor;
  const size = bytes ?? view.getUint32(cursor.offset, true);
  if (bytes === undefined) cursor.offset += 4;
  const start = cursor.offset;
  for (let left = values; left > 0 && cursor.offset < view.byteLength; ) {
    const head = readVarInt(cursor) >>> 0;
    const isPacked = (head & 1) === 1;
    const count = isPacked ? (head >>> 1) * PACK : head >>> 1;
    if (count > left + PACK - 1) throw new PageError(`a run of ${count} values, ${left} are left`);
    cursor.offset += isPacked ? (head >>> 1) * width : (width + 7) >> 3;
    left -= count;
  }
  cursor.offset = start + size;
}

/** The sizes of the blocks of differences: each block must hold values. */
function checkBlocks(cursor: Cursor): void {
  const [block, parts] = [readVarInt(cursor), readVarInt(cursor)];
  if (block > 0 && parts > 0 && parts <= block && block % parts === 0) return;
  throw new PageError(`blocks of ${block} differences in ${parts} parts`);
}

/** Unpacks Snappy. Throws a {@link PageError} for a literal that does not end in the packed bytes. */
export function unpackSnappy(packed: Uint8Array, bytes: number): Uint8Array {
  checkSnappy(packed);
  const unpacked = new Uint8Array(bytes);
  snappyUncompress(packed, unpacked);
  return unpacked;
}

/** Bytes that follow the tag of a copy, by its kind. */
const COPY_BYTES = [0, 1, 2, 4] as const;

function checkSnappy(packed: Uint8Array): void {
  let at = 0;
  while (at < packed.length && packed[at]! >= 0x80) at += 1;
  for (at += 1; at < packed.length; ) {
    const tag = packed[at++]!;
    const kind = tag & 3;
    if (kind > 0) at += COPY_BYTES[kind]!;
    else {
      const short = tag >>> 2;
      const lengthBytes = Math.max(0, short - 59);
      let length = short;
      if (lengthBytes > 0) {
        length = 0;
        for (let i = lengthBytes - 1; i >= 0; i--) length = length * 256 + (packed[at + i] ?? 0);
      }
      at += lengthBytes + length + 1;
      if (at > packed.length) throw new PageError(`a literal of ${length + 1} bytes that goes past the end`);
    }
  }
}
