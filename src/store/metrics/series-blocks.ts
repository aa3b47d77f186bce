import { zstdCompressSync, zstdDecompressSync } from 'node:zlib';
import { type Item, pointOf } from './series-items.ts';

/*
 * A block: zstd over the columns of its items. The bytes of a column are sorted by their place in the number: the first
 * bytes of consecutive values are alike. Steps and counts (4 bytes) are differences to the item before; values have 8
 * bytes and come out as they went in.
 */
const POINT = { whole: ['from'], real: ['first'] } as const;
const AGGREGATE = {
  whole: ['from', 'to', 'count', 'nan', 'infinite'],
  real: ['first', 'last', 'min', 'max', 'mean'],
} as const;

/** The bytes of consecutive items: recorded points, or aggregates. */
export function encodeBlock(items: readonly Item[], isPoints: boolean): Buffer {
  const { whole, real } = isPoints ? POINT : AGGREGATE;
  const columns = whole.map((name) => {
    const column = Buffer.alloc(items.length * 4);
    let before = 0;
    for (const [at, item] of items.entries()) {
      column.writeUInt32LE((item[name] - before) >>> 0, at * 4);
      before = item[name];
    }
    return transpose(column, items.length);
  });
  for (const name of real) {
    const column = Buffer.alloc(items.length * 8);
    for (const [at, item] of items.entries()) column.writeDoubleLE(item[name], at * 8);
    columns.push(transpose(column, items.length));
  }
  return zstdCompressSync(Buffer.concat(columns));
}

/** The inverse of {@link encodeBlock}. */
export function decodeBlock(block: Buffer, isPoints: boolean): Item[] {
  const { whole, real } = isPoints ? POINT : AGGREGATE;
  const bytes = zstdDecompressSync(block);
  const count = bytes.length / (4 * whole.length + 8 * real.length);
  let end = 0;
  const column = (width: number) => {
    end += width * count;
    return new DataView(transpose(bytes.subarray(end - width * count, end), width).buffer);
  };
  const wholes = whole.map(() => sumsOf(column(4)));
  const reals = real.map(() => column(8));
  return Array.from(wholes[0]!, (step, at) => {
    const item = pointOf(step, reals[0]!.getFloat64(at * 8, true));
    if (isPoints) return item;
    for (let index = 1; index < whole.length; index++) item[whole[index]!] = wholes[index]![at]!;
    for (let index = 1; index < real.length; index++)
      item[real[index]!] = reals[index]!.getFloat64(at * 8, true);
    return item;
  });
}

/** Numbers from their differences. */
function sumsOf(differences: DataView): Uint32Array {
  const sums = new Uint32Array(differences.byteLength / 4);
  for (let at = 0; at < sums.length; at++)
    sums[at] = (sums[at - 1] ?? 0) + differences.getUint32(at * 4, true);
  return sums;
}

/** The transpose of a matrix of bytes with this number of rows. */
function transpose(bytes: Uint8Array, rows: number): Uint8Array<ArrayBuffer> {
  const turned = new Uint8Array(bytes.length);
  let from = 0;
  for (let column = 0; column < rows; column++)
    for (let to = column; to < turned.length; to += rows) turned[to] = bytes[from++]!;
  return turned;
}

/**
 * Rows of `redis/lua/series.lua` as points by `<attempt>:<number of the metric>`, and the bytes of the complete rows. An
 * incomplete last row is ignored.
 */
export function decodeRows(rows: Buffer): { columns: Map<string, Item[]>; bytes: number } {
  const columns = new Map<string, Item[]>();
  let at = 0;
  while (at + 10 <= rows.length) {
    const [attempt, step, count] = [
      rows.readUInt32LE(at),
      rows.readUInt32LE(at + 4),
      rows.readUInt16LE(at + 8),
    ];
    const end = at + 10 + count * 10;
    if (end > rows.length) break;
    for (at += 10; at < end; at += 10) {
      const name = `${attempt}:${rows.readUInt16LE(at)}`;
      const column = columns.get(name) ?? [];
      column.push(pointOf(step, rows.readDoubleLE(at + 2)));
      columns.set(name, column);
    }
  }
  return { columns, bytes: at };
}
