import { EchelonError, type FieldProblem } from '../core/errors.ts';

/** Arrays and objects inside one another at most. */
export const MAX_JSON_DEPTH = 64;

/** A container that is open while a text is scanned. */
type Open = { keys: Set<string>; key: string } | { index: number };

const TOKEN = /"[^"\\]*(?:\\.[^"\\]*)*"|[{}[\]:,]|-?[0-9][0-9.eE+-]*/g;
const POLLUTING = new Set(['__proto__', 'constructor', 'prototype']);

/**
 * Parses JSON and refuses what JSON.parse lets pass in silence: duplicate keys (the last would win), keys that
 * reach a prototype, numbers that a double cannot hold (1e400, -0, integers beyond 2^53), halves of surrogate
 * pairs, nesting beyond {@link MAX_JSON_DEPTH}. Throws EchelonError `invalid-request` that names each place as a
 * JSON pointer, at most ten of them. Linear in the text.
 */
export function parseJson(text: string): unknown {
  const value = parse(text);
  const problems = hiddenProblems(text);
  if (problems.length > 0) {
    throw new EchelonError('invalid-request', 'The JSON text is ambiguous or unsafe.', { problems });
  }
  return value;
}

/** {@link parseJson} of UTF-8 bytes; bytes that are not UTF-8 are refused, never replaced. */
export function parseJsonBytes(bytes: Uint8Array): unknown {
  let text: string;
  try {
    text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch (cause) {
    throw new EchelonError('invalid-request', 'The text is not UTF-8.', { cause });
  }
  return parseJson(text);
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (cause) {
    const detail = cause instanceof Error ? cause.message : String(cause);
    throw new EchelonError('invalid-request', `The text is not JSON: ${clip(detail, 160)}.`, { cause });
  }
}

/** Looks through a text that is known to be JSON. */
function hiddenProblems(text: string): FieldProblem[] {
  const problems: FieldProblem[] = [];
  const open: Open[] = [];
  let expectsKey = false;
  const complain = (message: string) => problems.push({ field: pointer(open), message });
  for (const [token] of text.matchAll(TOKEN)) {
    if (problems.length === 10) break;
    const top = open.at(-1);
    if (token === '{' || token === '[') {
      if (open.length === MAX_JSON_DEPTH) {
        complain(`nests deeper than ${MAX_JSON_DEPTH} levels`);
        break;
      }
      open.push(token === '{' ? { keys: new Set(), key: '' } : { index: 0 });
      expectsKey = token === '{';
    } else if (token === '}' || token === ']') {
      open.pop();
      expectsKey = false;
    } else if (token === ',') {
      if (top && 'index' in top) top.index++;
      else expectsKey = true;
    } else if (token === ':') expectsKey = false;
    else if (token[0] === '"') {
      const message = stringProblem(token, expectsKey && top && 'keys' in top ? top : undefined);
      if (message !== undefined) complain(message);
    } else {
      const message = numberProblem(token);
      if (message !== undefined) complain(message);
    }
  }
  return problems;
}

function stringProblem(token: string, object: { keys: Set<string>; key: string } | undefined) {
  const text = token.includes('\\') ? (JSON.parse(token) as string) : token.slice(1, -1);
  if (object) {
    object.key = text;
    if (object.keys.has(text)) return 'stands twice in one object; keep one of them';
    object.keys.add(text);
    if (POLLUTING.has(text)) return 'is a key that is never accepted; remove it';
  }
  return text.isWellFormed() ? undefined : 'holds half of a surrogate pair, which is no character';
}

function numberProblem(token: string): string | undefined {
  const value = Number(token);
  if (Object.is(value, -0)) return `${clip(token)} is not accepted; write 0`;
  if (!Number.isFinite(value)) return `${clip(token)} is larger than a double can hold`;
  if (value === 0 && /^-?[0.]*[1-9]/.test(token)) return `${clip(token)} is smaller than a double can hold`;
  if (Number.isInteger(value) && !Number.isSafeInteger(value)) {
    return `${clip(token)} is beyond 2^53, where a double cannot tell integers apart`;
  }
  return undefined;
}

function pointer(open: readonly Open[]): string {
  return open.map((at) => `/${'index' in at ? at.index : escapePointer(clip(at.key, 100))}`).join('');
}

/** A key as a part of a JSON pointer (RFC 6901). */
export function escapePointer(key: string): string {
  return key.replaceAll('~', '~0').replaceAll('/', '~1');
}

/** The text itself, or its start if it is longer than `most`. */
export function clip(text: string, most = 60): string {
  // Half of a surrogate pair is no character.
  return text.length <= most ? text : `${text.slice(0, most).replace(/[\ud800-\udbff]$/, '')}…`;
}

/**
 * JSON with the keys of every object in order and without spaces: equal for values that are equal. For digests
 * of plain JSON values.
 */
export function canonicalJson(value: unknown): string {
  return JSON.stringify(value, (_key, part: unknown) =>
    part !== null && typeof part === 'object' && !Array.isArray(part)
      ? Object.fromEntries(
          Object.entries(part).sort(([left], [right]) => (left < right ? -1 : left > right ? 1 : 0)),
        )
      : part,
  );
}
