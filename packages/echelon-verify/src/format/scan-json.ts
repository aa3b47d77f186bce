/** A reason not to parse a JSON text in bounded time and memory, and its place. */
export interface JsonFault {
  readonly kind: 'too-deep' | 'too-many' | 'too-long' | 'duplicate-key' | 'not-a-number';
  readonly offset: number;
  /** The key that occurs twice, or the word that is no JSON number. */
  readonly detail: string;
}

/** How large the parsed value may get. */
export interface JsonLimits {
  /** Arrays and objects inside one another. */
  readonly depth: number;
  /** Arrays and objects in all; keys likewise. */
  readonly containers: number;
  /** Bytes of a key. */
  readonly keyBytes: number;
}

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COLON = 0x3a;

/**
 * Looks through a JSON text once, before it is parsed, for what JSON.parse lets pass in silence or answers by
 * running out of memory: nesting, number of containers, keys that occur twice (the last would win), and
 * Python's NaN and Infinity. Does not judge the syntax otherwise. Linear in the bytes.
 */
export function scanJson(bytes: Uint8Array, limits: JsonLimits): JsonFault | undefined {
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  /** For each open container its keys so far; undefined for arrays, created at an object's first key. */
  const open: (Set<string> | undefined)[] = [];
  let containers = 0;
  let allKeys = 0;
  for (let at = 0; at < text.length; at++) {
    const byte = text[at]!;
    if (byte === QUOTE) {
      const end = endOfString(text, at);
      const after = skipSpace(text, end + 1);
      if (text[after] === COLON && open.length > 0) {
        const keys = open[open.length - 1] ?? new Set<string>();
        open[open.length - 1] = keys;
        if (end - at > limits.keyBytes) return { kind: 'too-long', offset: at, detail: '' };
        if (++allKeys > limits.containers) return { kind: 'too-many', offset: at, detail: '' };
        const key = keyText(text, at, end);
        if (keys.has(key)) return { kind: 'duplicate-key', offset: at, detail: key };
        keys.add(key);
      }
      at = end;
    } else if (byte === 0x5b || byte === 0x7b) {
      if (open.length === limits.depth) return { kind: 'too-deep', offset: at, detail: '' };
      if (++containers > limits.containers) return { kind: 'too-many', offset: at, detail: '' };
      open.push(undefined);
    } else if (byte === 0x5d || byte === 0x7d) {
      open.pop();
    } else if (byte === 0x4e || byte === 0x49) {
      const word = byte === 0x4e ? 'NaN' : 'Infinity';
      if (text.toString('latin1', at, at + word.length) === word)
        return { kind: 'not-a-number', offset: at, detail: word };
    }
  }
  return undefined;
}

/** Index of the closing quote of the string that opens at `start`, or of the last byte if it never closes. */
export function endOfString(text: Buffer, start: number): number {
  let end = text.indexOf(QUOTE, start + 1);
  while (end !== -1) {
    let backslashes = 0;
    while (text[end - 1 - backslashes] === BACKSLASH) backslashes++;
    if (backslashes % 2 === 0) return end;
    end = text.indexOf(QUOTE, end + 1);
  }
  return text.length - 1;
}

/** Index of the first byte from `from` on that is no blank. */
export function skipSpace(text: Buffer, from: number): number {
  let at = from;
  while (text[at] === 0x20 || text[at] === 0x0a || text[at] === 0x0d || text[at] === 0x09) at++;
  return at;
}

/** The text of the string from the quote at `start` to that at `end`. */
export function keyText(text: Buffer, start: number, end: number): string {
  const raw = text.toString('utf8', start, end + 1);
  if (!raw.includes('\\')) return raw.slice(1, -1);
  try {
    return JSON.parse(raw) as string;
  } catch {
    return raw;
  }
}
