/** Files of torch.save written by hand: a zip of stored entries, and the opcodes of a pickle. */

const text = (value: string): Buffer => {
  const head = Buffer.alloc(5);
  head[0] = 0x58;
  head.writeUInt32LE(value.length, 1);
  return Buffer.concat([head, Buffer.from(value)]);
};
const code = (...parts: (string | Buffer)[]): Buffer =>
  Buffer.concat(parts.map((part) => (typeof part === 'string' ? Buffer.from(part, 'latin1') : part)));

/** Opcodes by what they make. */
export const pickled = {
  text,
  int: (value: number): Buffer => {
    const bytes = Buffer.alloc(5);
    bytes[0] = 0x4a;
    bytes.writeInt32LE(value, 1);
    return bytes;
  },
  float: (value: number): Buffer => {
    const bytes = Buffer.alloc(9);
    bytes[0] = 0x47;
    bytes.writeDoubleBE(value, 1);
    return bytes;
  },
  bytes: (value: Buffer): Buffer => {
    const head = Buffer.alloc(5);
    head[0] = 0x42;
    head.writeUInt32LE(value.length, 1);
    return Buffer.concat([head, value]);
  },
  list: (...items: Buffer[]): Buffer => code('](', ...items, 'e'),
  tuple: (...items: Buffer[]): Buffer => code('(', ...items, 't'),
  dict: (entries: Readonly<Record<string, Buffer>>): Buffer =>
    code('}(', ...Object.entries(entries).flatMap(([key, value]) => [text(key), value]), 'u'),
  global: (module: string, name: string): Buffer => code(`c${module}\n${name}\n`),
  call: (callable: Buffer, ...args: Buffer[]): Buffer => code(callable, '(', ...args, 'tR'),
  /** The same list twice in a list, and so on. */
  doubled: (depth: number): Buffer =>
    code('](', pickled.int(1), 'e', ...Array.from({ length: depth }, () => '2\x86')),
  /** A list that is its own item. */
  endless: (): Buffer => code(']q\x00h\x00a'),
  /** A tensor of float32. */
  tensor: (sizes: readonly number[], strides: readonly number[], key = '0'): Buffer => {
    const storage = [text('storage'), pickled.global('torch', 'FloatStorage'), text(key), text('cpu')];
    const kept = code(pickled.tuple(...storage, pickled.int(1)), 'Q');
    const shape = [sizes, strides].map((list) => pickled.tuple(...list.map(pickled.int)));
    return pickled.call(
      pickled.global('torch._utils', '_rebuild_tensor_v2'),
      ...[kept, pickled.int(0), ...shape],
    );
  },
};

/** A file of torch.save that holds the pickle of a value, and storages by their keys. */
export function torchFile(value: Buffer, storages: Readonly<Record<string, Buffer>> = {}): Buffer {
  const entries = { 'a/data.pkl': code('\x80\x02', value, '.') } as Record<string, Buffer>;
  for (const [key, bytes] of Object.entries(storages)) entries[`a/data/${key}`] = bytes;
  const parts: Buffer[] = [];
  const directory: Buffer[] = [];
  let at = 0;
  for (const [name, bytes] of Object.entries(entries)) {
    const local = Buffer.alloc(30);
    local.writeUInt32LE(0x04034b50);
    local.writeUInt16LE(name.length, 26);
    const entry = Buffer.alloc(46);
    entry.writeUInt32LE(0x02014b50);
    entry.writeUInt32LE(bytes.length, 20);
    entry.writeUInt32LE(bytes.length, 24);
    entry.writeUInt16LE(name.length, 28);
    entry.writeUInt32LE(at, 42);
    directory.push(code(entry, name));
    parts.push(code(local, name, bytes));
    at += 30 + name.length + bytes.length;
  }
  const end = Buffer.alloc(22);
  end.writeUInt32LE(0x06054b50);
  end.writeUInt16LE(directory.length, 10);
  end.writeUInt32LE(Buffer.concat(directory).length, 12);
  end.writeUInt32LE(at, 16);
  return Buffer.concat([...parts, ...directory, end]);
}
