/**
 * Reads chosen keys of a JSON text and skips the others without building them: rollouts hold far more text and tokens than
 * numbers. Takes Python's NaN and Infinity, which json.dumps writes.
 */

import { endOfString, keyText, skipSpace } from '../format/scan-json.ts';

/** The keys to read, `true` for a whole value. A list has the selection of its items. */
export type Selection = true | { readonly [key: string]: Selection };

/** A text that is not JSON, or a value that is too large. */
export class PickJsonError extends Error {
  override readonly name = 'PickJsonError';
}

/** Bytes of one chosen value at most, and arrays and objects in it. */
const MAX_VALUE_BYTES = 2 ** 27;
const MAX_CONTAINERS = 4_000_000;
const MAX_KEYS = 10_000;
const MAX_KEY_BYTES = 2 ** 16;
const MAX_DEPTH = 500;

const [QUOTE, COLON, COMMA] = [0x22, 0x3a, 0x2c];
const [OPEN_ARRAY, CLOSE_ARRAY, OPEN_OBJECT, CLOSE_OBJECT] = [0x5b, 0x5d, 0x7b, 0x7d];

interface Cursor {
  readonly text: Buffer;
  at: number;
}

/** The chosen parts of a JSON text; absent keys are absent. Throws a {@link PickJsonError}. */
export function pickJson(bytes: Uint8Array, selection: Selection): unknown {
  const cursor = { text: Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength), at: 0 };
  const value = pick(cursor, selection);
  if (next(cursor) !== undefined) throw unexpected(cursor, 'the end');
  return value;
}

/** The keys of the object that a JSON text begins with, until the text ends, and what each value is. */
export function keysOfJson(bytes: Uint8Array): Map<string, 'array' | 'object' | 'scalar'> {
  const cursor = { text: Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength), at: 0 };
  const keys = new Map<string, 'array' | 'object' | 'scalar'>();
  try {
    eachKey(cursor, (key) => {
      const first = next(cursor);
      keys.set(key, first === OPEN_ARRAY ? 'array' : first === OPEN_OBJECT ? 'object' : 'scalar');
      skipValue(cursor);
    });
  } catch (error) {
    if (!(error instanceof PickJsonError)) throw error;
  }
  return keys;
}

function pick(cursor: Cursor, selection: Selection): unknown {
  const first = next(cursor);
  if (first === undefined) throw unexpected(cursor, 'a value');
  if (selection === true || (first !== OPEN_OBJECT && first !== OPEN_ARRAY)) return whole(cursor);
  if (first === OPEN_ARRAY) return pickItems(cursor, selection);
  const picked: Record<string, unknown> = {};
  eachKey(cursor, (key) => {
    const wanted = Object.hasOwn(selection, key) ? selection[key] : undefined;
    if (wanted === undefined) skipValue(cursor);
    else picked[key] = pick(cursor, wanted);
  });
  return picked;
}

function pickItems(cursor: Cursor, selection: Selection): unknown[] {
  const items: unknown[] = [];
  cursor.at++;
  if (next(cursor) === CLOSE_ARRAY) {
    cursor.at++;
    return items;
  }
  for (;;) {
    if (items.length === MAX_CONTAINERS)
      throw new PickJsonError(`a list of more than ${MAX_CONTAINERS} items`);
    items.push(pick(cursor, selection));
    const after = next(cursor);
    cursor.at++;
    if (after === CLOSE_ARRAY) return items;
    if (after !== COMMA) throw unexpected(cursor, ', or ]');
  }
}

/** Calls `read` at the value of each key; it must leave the cursor after the value. */
function eachKey(cursor: Cursor, read: (key: string) => void): void {
  if (next(cursor) !== OPEN_OBJECT) throw unexpected(cursor, '{');
  cursor.at++;
  if (next(cursor) === CLOSE_OBJECT) {
    cursor.at++;
    return;
  }
  for (let keys = 0; ; keys++) {
    if (keys === MAX_KEYS) throw new PickJsonError(`an object of more than ${MAX_KEYS} keys`);
    if (next(cursor) !== QUOTE) throw unexpected(cursor, 'a key');
    const end = endOfString(cursor.text, cursor.at);
    if (end - cursor.at > MAX_KEY_BYTES) throw new PickJsonError(`a key of more than ${MAX_KEY_BYTES} bytes`);
    const key = keyText(cursor.text, cursor.at, end);
    cursor.at = end + 1;
    if (next(cursor) !== COLON) throw unexpected(cursor, ':');
    cursor.at++;
    read(key);
    const after = next(cursor);
    cursor.at++;
    if (after === CLOSE_OBJECT) return;
    if (after !== COMMA) throw unexpected(cursor, ', or }');
  }
}

function whole(cursor: Cursor): unknown {
  const from = cursor.at;
  const containers = skipValue(cursor);
  if (cursor.at - from > MAX_VALUE_BYTES || containers > MAX_CONTAINERS) {
    throw new PickJsonError(
      `a value of more than ${MAX_VALUE_BYTES} bytes or ${MAX_CONTAINERS} lists, at byte ${from}`,
    );
  }
  const text = cursor.text.toString('utf8', from, cursor.at);
  try {
    return JSON.parse(text);
  } catch {
    return parsePython(text, from);
  }
}

/** Moves past a value and returns how many arrays and objects it holds. */
function skipValue(cursor: Cursor): number {
  const { text } = cursor;
  let depth = 0;
  let containers = 0;
  next(cursor);
  const start = cursor.at;
  for (; cursor.at < text.length; cursor.at++) {
    const byte = text[cursor.at]!;
    if (byte === QUOTE) cursor.at = endOfString(text, cursor.at);
    else if (byte === OPEN_ARRAY || byte === OPEN_OBJECT) {
      depth++;
      containers++;
      if (depth > MAX_DEPTH) throw new PickJsonError(`more than ${MAX_DEPTH} lists in one another`);
    } else if (byte === CLOSE_ARRAY || byte === CLOSE_OBJECT) {
      if (depth === 0) break;
      depth--;
      if (depth === 0) {
        cursor.at++;
        return containers;
      }
    } else if (depth === 0 && byte === COMMA) break;
  }
  if (depth > 0 || cursor.at === start) throw unexpected(cursor, 'a complete value');
  return containers;
}

function parsePython(text: string, offset: number): unknown {
  try {
    return JSON.parse(withoutPythonNumbers(text), (_key, value: unknown) =>
      value === NAN ? Number.NaN : value,
    );
  } catch (error) {
    throw new PickJsonError(`${(error as Error).message.slice(0, 120)}, in the value at byte ${offset}`);
  }
}

/** Stands for NaN, which JSON does not have; null is absent. */
const NAN = '\u0000NaN';

/** NaN as a text that stands for it, Infinity as a number that JSON reads as infinite; texts stay as they are. */
function withoutPythonNumbers(text: string): string {
  const parts: string[] = [];
  let from = 0;
  for (let at = 0; at < text.length; at++) {
    const char = text[at];
    if (char === '"') {
      for (at++; at < text.length && text[at] !== '"'; at++) if (text[at] === '\\') at++;
      continue;
    }
    const word = char === 'N' ? 'NaN' : char === 'I' ? 'Infinity' : undefined;
    if (word === undefined || !text.startsWith(word, at)) continue;
    parts.push(text.slice(from, at), word === 'NaN' ? JSON.stringify(NAN) : '1e999');
    at += word.length - 1;
    from = at + 1;
  }
  return parts.join('') + text.slice(from);
}

/** The next byte that is no blank; the cursor stands on it. */
function next(cursor: Cursor): number | undefined {
  cursor.at = skipSpace(cursor.text, cursor.at);
  return cursor.text[cursor.at];
}

function unexpected({ text, at }: Cursor, expected: string): PickJsonError {
  const found =
    at >= text.length ? 'the end of the text' : JSON.stringify(text.toString('latin1', at, at + 12));
  return new PickJsonError(`expected ${expected} at byte ${at}, found ${found}`);
}
