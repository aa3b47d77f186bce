const BLOCK = 512;
const NAME_BYTES = 100;

/** A tar archive (POSIX ustar) of text files that only their owner may read. Names have up to 100 bytes; `time` in ms. */
export function tarOf(files: ReadonlyMap<string, string>, time: number): Buffer {
  const pieces = [...files].flatMap(([name, text]) => {
    const bytes = Buffer.from(text);
    return [headerOf(name, bytes.length, time), bytes, Buffer.alloc(-bytes.length & (BLOCK - 1))];
  });
  return Buffer.concat([...pieces, Buffer.alloc(2 * BLOCK)]);
}

function headerOf(name: string, size: number, time: number): Buffer {
  if (Buffer.byteLength(name) > NAME_BYTES) throw new TypeError(`${name} is too long for a tar archive`);
  const header = Buffer.alloc(BLOCK);
  const octal = (value: number, digits: number) => value.toString(8).padStart(digits, '0');
  const fields: [at: number, text: string][] = [
    [0, name],
    [100, octal(0o600, 7)],
    [108, octal(0, 7)],
    [116, octal(0, 7)],
    [124, octal(size, 11)],
    [136, octal(Math.floor(time / 1000), 11)],
    // The checksum counts its own field as spaces.
    [148, ' '.repeat(8)],
    [156, '0'],
    [257, 'ustar\u000000'],
  ];
  for (const [at, text] of fields) header.write(text, at, 'latin1');
  const sum = header.reduce((total, byte) => total + byte, 0);
  header.write(`${octal(sum, 6)}\u0000 `, 148, 'latin1');
  return header;
}
