import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { keysOfJson, PickJsonError, pickJson } from '../../src/dumps/pick-json.ts';

const bytes = (text: string): Buffer => Buffer.from(text);

test('picks the chosen keys, in objects and lists of objects', () => {
  const text = '{"a": 1, "skip": [{"x": "]}"}], "b": [{"c": {"d": [1, 2], "e": 0}}, null], "f": "x\\"y"}';
  const picked = pickJson(bytes(text), { a: true, b: { c: { d: true } }, f: true });
  assert.deepEqual(picked, { a: 1, b: [{ c: { d: [1, 2] } }, null], f: 'x"y' });
});

test('gives what JSON.parse gives, for any value and any key', () => {
  fc.assert(
    fc.property(fc.json(), (text) => {
      assert.deepEqual(pickJson(bytes(`{"skip": ${text}, "key": ${text}}`), { key: true }), {
        key: JSON.parse(text),
      });
    }),
  );
});

test("takes Python's NaN and Infinity outside of texts", () => {
  const picked = pickJson(bytes('{"a": [NaN, -Infinity, Infinity, "NaN \\"Infinity"], "b": NaN}'), {
    a: true,
  });
  assert.deepEqual(picked, { a: [Number.NaN, -Infinity, Infinity, 'NaN "Infinity'] });
});

test('refuses what is cut off, with the byte', () => {
  const text = '{"a": [1, 2, {"b": "c"}], "d": 5}';
  for (let end = 0; end < text.length; end++)
    assert.throws(() => pickJson(bytes(text.slice(0, end)), { a: true }), PickJsonError, text.slice(0, end));
  assert.throws(() => pickJson(bytes('{"a": 1} x'), { a: true }), /expected the end at byte 9/);
  assert.throws(() => pickJson(bytes('{"a": nope}'), { a: true }), /in the value at byte 6/);
});

test('deep nesting neither exhausts the stack nor goes unnoticed', () => {
  const deep = '['.repeat(5_000_000);
  assert.throws(() => pickJson(bytes(`{"a": ${deep}`), { b: true }), /lists in one another/);
  assert.throws(() => pickJson(bytes(`{"a": ${deep}${']'.repeat(5_000_000)}}`), { a: true }), /lists/);
});

test('names the keys of an object as far as it is there', () => {
  const keys = keysOfJson(bytes('{"a": [1], "b": {"c": 1}, "d": 5, "e": "cut o'));
  assert.deepEqual(
    [...keys],
    [
      ['a', 'array'],
      ['b', 'object'],
      ['d', 'scalar'],
      ['e', 'scalar'],
    ],
  );
  assert.deepEqual([...keysOfJson(bytes('[1]'))], []);
});
