import assert from 'node:assert/strict';
import { test } from 'node:test';
import { JSON_LIMITS, parseJson } from '../../src/format/parse-json.ts';

const parse = (text: string) => parseJson(Buffer.from(text), 'f');

test('parses JSON, with or without a byte order mark', () => {
  assert.deepEqual(parse('\uFEFF{"a":[1,null]}'), { a: [1, null] });
});

test('integers that a double cannot hold stay apart', () => {
  assert.deepEqual(parse('[12345678901234567,12345678901234568]'), [12345678901234567n, 12345678901234568n]);
  assert.deepEqual(parse('["1234567890123456789", 1234567890123456.5]'), [
    '1234567890123456789',
    1234567890123456.5,
  ]);
});

test('text that is not UTF-8, and what is no JSON, is refused', () => {
  assert.throws(() => parseJson(Uint8Array.of(0x22, 0xff, 0x22), 'f'), /f: expected JSON/);
  assert.throws(() => parse('{'), /expected JSON/);
  assert.throws(() => parse('[Infinity]'), /NaN is written as null, found Infinity at byte 1/);
});

test('depth and number of containers are bounded', () => {
  const deep = (n: number) => '['.repeat(n) + ']'.repeat(n);
  assert.doesNotThrow(() => parse(deep(JSON_LIMITS.depth)));
  assert.throws(() => parse(deep(JSON_LIMITS.depth + 1)), /at most 64 arrays and objects inside one another/);
  assert.throws(
    () => parse(`[${'[],'.repeat(JSON_LIMITS.containers)}[]]`),
    /at most 4000000 arrays and objects/,
  );
});
