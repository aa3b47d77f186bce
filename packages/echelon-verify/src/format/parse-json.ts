import { BatchFormatError } from './format-error.ts';
import { type JsonPlace, placeInJson } from './json-place.ts';
import type { JsonFault } from './scan-json.ts';
import { scanJson } from './scan-json.ts';

/** Bytes of JSON that are parsed at most. Larger batches belong in the wire's format. */
export const MAX_JSON_BYTES = 256 * 1024 * 1024;

/** What keeps the parsed value small: arrays and objects inside one another, and in all, and bytes of a key. */
export const JSON_LIMITS = { depth: 64, containers: 4_000_000, keyBytes: 2 ** 16 };

/**
 * Parses a JSON file in bounded time and memory. Integers that a double cannot hold come out as bigint, so that
 * two of them are equal only if the texts are. Throws a BatchFormatError for what is not JSON, or is larger
 * or deeper than the limits, or gives a key twice.
 */
export function parseJson(bytes: Uint8Array, file: string): unknown {
  if (bytes.length > MAX_JSON_BYTES) {
    const expected = `at most ${MAX_JSON_BYTES} bytes of JSON (larger batches: the protobuf format)`;
    throw new BatchFormatError({ code: 'too-large', file, expected, found: `${bytes.length}` });
  }
  const fault = scanJson(bytes, JSON_LIMITS);
  if (fault !== undefined) throw errorOf(fault, file, placeInJson(bytes, fault.offset));
  try {
    const text = new TextDecoder('utf-8', { fatal: true }).decode(bytes);
    return LONG_INTEGER.test(text) ? JSON.parse(text, keepLongIntegers) : JSON.parse(text);
  } catch (cause) {
    const expected = 'JSON, or JSON in gzip';
    const found = bytes.length === 0 ? 'an empty file' : (cause as Error).message;
    throw new BatchFormatError({ code: 'unreadable', file, expected, found }, { cause });
  }
}

/** Sixteen digits after a place where a number may begin. Texts may match as well: that only costs time. */
const LONG_INTEGER = /[[,:\s]-?\d{16}/;

function keepLongIntegers(_key: string, value: unknown, context?: { source?: string }): unknown {
  if (typeof value !== 'number' || Number.isSafeInteger(value)) return value;
  return context?.source !== undefined && /^-?\d+$/.test(context.source) ? BigInt(context.source) : value;
}

function errorOf(fault: JsonFault, file: string, place: JsonPlace): BatchFormatError {
  const at = `at byte ${fault.offset}`;
  switch (fault.kind) {
    case 'duplicate-key': {
      const expected = 'each key once in an object';
      return new BatchFormatError({
        code: 'bad-key',
        file,
        ...place,
        field: fault.detail,
        expected,
        found: `twice, ${at}`,
      });
    }
    case 'not-a-number':
      return new BatchFormatError({
        code: 'unreadable',
        file,
        ...place,
        expected: 'JSON, where NaN is written as null',
        found: `${fault.detail} ${at}`,
      });
    case 'too-deep':
      return new BatchFormatError({
        code: 'too-large',
        file,
        expected: `at most ${JSON_LIMITS.depth} arrays and objects inside one another`,
        found: `more, ${at}`,
      });
    case 'too-long':
      return new BatchFormatError({
        code: 'too-large',
        file,
        expected: `keys of at most ${JSON_LIMITS.keyBytes} bytes`,
        found: `a longer one, ${at}`,
      });
    case 'too-many':
      return new BatchFormatError({
        code: 'too-large',
        file,
        expected: `at most ${JSON_LIMITS.containers} arrays and objects, and as many keys`,
        found: `more, ${at}`,
      });
  }
}
