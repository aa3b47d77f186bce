/** Parquet files written by hand, with headers that state anything. Thrift's compact protocol, as far as they need it. */

/** Bytes of a value and its type in the protocol. */
interface Thrift {
  readonly type: number;
  readonly bytes: Buffer;
}

/** A number as the protocol writes it. */
export function varint(value: number): Buffer {
  const bytes: number[] = [];
  let rest = BigInt(value);
  for (; rest > 0x7fn; rest >>= 7n) bytes.push(Number(rest & 0x7fn) | 0x80);
  return Buffer.from([...bytes, Number(rest)]);
}

/** An integer of 32 bits. */
export const int = (value: number): Thrift => ({
  type: 5,
  bytes: varint(value < 0 ? -2 * value - 1 : 2 * value),
});

const long = (value: number): Thrift => ({ ...int(value), type: 6 });
const text = (value: string): Thrift => ({
  type: 8,
  bytes: Buffer.concat([varint(value.length), Buffer.from(value)]),
});

function list(items: readonly Thrift[]): Thrift {
  const size = Buffer.from([0xf0 | (items[0]?.type ?? 5)]);
  return { type: 9, bytes: Buffer.concat([size, varint(items.length), ...items.map(({ bytes }) => bytes)]) };
}

/** A structure with its fields by number, which must rise. */
export function struct(fields: Readonly<Record<number, Thrift>>): Thrift {
  const parts = Object.entries(fields).flatMap(([id, { type, bytes }]) => [
    Buffer.concat([Buffer.from([type]), varint(2 * Number(id))]),
    bytes,
  ]);
  return { type: 12, bytes: Buffer.concat([...parts, Buffer.from([0])]) };
}

/** What the header of the only page of the only column states. */
export interface Page {
  readonly values?: number;
  readonly bytes?: number;
  readonly compressedBytes?: number;
  /** 0: plain, 5: differences, 7: shared prefixes, 8: dictionary. */
  readonly encoding?: number;
  /** 0: none, 1: Snappy, 2: gzip, 4: brotli, 6: zstd. */
  readonly codec?: number;
  /** 1: int32, 5: float64. */
  readonly type?: number;
  /** The header is one of the second version. */
  readonly isSecond?: boolean;
  /** Row groups that the footer names, all of them the one that there is. */
  readonly groups?: number;
  /** The page is the dictionary of the column. */
  readonly isDictionary?: boolean;
}

/** A file with one column `reward`, by default of float64, in one page. */
export function parquetFile(content: Buffer, rows: number, page: Page = {}): Buffer {
  const { values = rows, bytes = content.length, compressedBytes = content.length } = page;
  const { encoding = 0, codec = 0, type = 5, groups = 1 } = page;
  const sizes = { 2: int(bytes), 3: int(compressedBytes) };
  const data = struct({ 1: int(values), 2: int(encoding), 3: int(3), 4: int(3) });
  const second = { 1: int(values), 2: int(0), 3: int(values), 4: int(encoding), 5: int(0), 6: int(0) };
  const header = struct(
    page.isDictionary
      ? { 1: int(2), ...sizes, 7: struct({ 1: int(values), 2: int(encoding) }) }
      : page.isSecond
        ? { 1: int(3), ...sizes, 8: struct(second) }
        : { 1: int(0), ...sizes, 5: data },
  ).bytes;
  const size = header.length + content.length;
  const meta = {
    ...{ 1: int(type), 2: list([int(encoding)]), 3: list([text('reward')]), 4: int(codec), 5: long(values) },
    ...{ 6: long(bytes), 7: long(size), 9: long(4) },
  };
  const group = { 1: list([struct({ 2: long(4), 3: struct(meta) })]), 2: long(size), 3: long(rows) };
  const schema = [
    struct({ 4: text('root'), 5: int(1) }),
    struct({ 1: int(type), 3: int(0), 4: text('reward') }),
  ];
  const all = Array.from({ length: groups }, () => struct(group));
  const footer = struct({ 1: int(1), 2: list(schema), 3: long(rows * groups), 4: list(all) }).bytes;
  return framed(Buffer.concat([header, content]), footer);
}

/** A file whose footer is a list in a list and so on, each of which states 32 million entries. */
export function parquetOfLists(depth: number): Buffer {
  const stated = Buffer.concat([Buffer.from([0xf9]), varint(32_000_000)]);
  const lists = Array.from({ length: depth }, () => stated);
  return framed(Buffer.alloc(0), Buffer.concat([Buffer.from([9]), varint(18), ...lists]));
}

function framed(content: Buffer, footer: Buffer): Buffer {
  const length = Buffer.alloc(4);
  length.writeUInt32LE(footer.length);
  return Buffer.concat([Buffer.from('PAR1'), content, footer, length, Buffer.from('PAR1')]);
}
