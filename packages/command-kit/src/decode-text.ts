/** The text of a file, or why its bytes are none. */
export type DecodedText = { text: string } | { fault: string };

const ENCODINGS = [
  { encoding: 'utf-16le', mark: [0xff, 0xfe] },
  { encoding: 'utf-16be', mark: [0xfe, 0xff] },
] as const;

const REMEDY = 'Save it as UTF-8.';

/**
 * Decodes UTF-8, and UTF-16 that begins with its byte order mark. Other bytes are a fault: a character that is replaced would
 * change names and programs without a word.
 */
export function decodeText(bytes: Uint8Array): DecodedText {
  const utf16 = ENCODINGS.find(({ mark }) => mark.every((byte, at) => bytes[at] === byte));
  const text = decoded(bytes, utf16?.encoding ?? 'utf-8');
  if (text === undefined) {
    if (utf16 !== undefined)
      return { fault: `the text is no valid ${utf16.encoding.toUpperCase()}. ${REMEDY}` };
    return { fault: `line ${lineThatIsNotUtf8(bytes)} is not UTF-8, but perhaps Latin-1. ${REMEDY}` };
  }
  if (text.includes('\u0000'))
    return {
      fault: `it holds NUL characters: it is no text, or UTF-16 without a byte order mark. ${REMEDY}`,
    };
  return { text };
}

function decoded(bytes: Uint8Array, encoding: string): string | undefined {
  try {
    return new TextDecoder(encoding, { fatal: true }).decode(bytes);
  } catch {
    return undefined;
  }
}

/** No character of UTF-8 has the byte of a line feed in it, so that each line can be decoded alone. */
function lineThatIsNotUtf8(bytes: Uint8Array): number {
  let line = 1;
  for (let start = 0; start < bytes.length; line++) {
    const end = bytes.indexOf(0x0a, start);
    const stop = end < 0 ? bytes.length : end + 1;
    if (decoded(bytes.subarray(start, stop), 'utf-8') === undefined) return line;
    start = stop;
  }
  return line;
}
