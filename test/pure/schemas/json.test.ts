import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { EchelonError } from '../../../src/core/errors.ts';
import {
  canonicalJson,
  clip,
  escapePointer,
  MAX_JSON_DEPTH,
  parseJson,
  parseJsonBytes,
} from '../../../src/schemas/json.ts';

function fieldsOf(text: string): string[] {
  try {
    parseJson(text);
  } catch (error) {
    assert.ok(error instanceof EchelonError);
    assert.equal(error.code, 'invalid-request');
    return error.problems.map(({ field }) => field);
  }
  return [];
}

describe('parseJson', () => {
  test('parseJson returns the same value as JSON.parse', () => {
    const value = fc.jsonValue({ maxDepth: 6 }).filter((one) => {
      const text = JSON.stringify(one);
      return !/__proto__|constructor|prototype|e\+|-0\b/.test(text) && text.isWellFormed();
    });
    fc.assert(
      fc.property(value, (one) => {
        const text = JSON.stringify(one);
        const unsafe = /[0-9]{16}/.test(text);
        if (!unsafe) assert.deepEqual(parseJson(text), JSON.parse(text));
      }),
    );
  });

  test('parseJson refuses duplicate keys at any depth, also escaped ones', () => {
    assert.deepEqual(fieldsOf('{"K":99,"K":1}'), ['/K']);
    assert.deepEqual(fieldsOf('{"a":[{"b":1},{"b":1,"c":{},"b":2}]}'), ['/a/1/b']);
    assert.deepEqual(fieldsOf('{"a":1,"\\u0061":2}'), ['/a']);
    assert.deepEqual(fieldsOf('{"a":{"a":{"a":1}},"b":{"a":1}}'), []);
  });

  test('parseJson does not interpret keys and brackets inside strings', () => {
    assert.deepEqual(parseJson('{"a":"{\\"x\\":1,\\"x\\":[[[","b":"1e999"}'), {
      a: '{"x":1,"x":[[[',
      b: '1e999',
    });
  });

  test('parseJson refuses keys that reach a prototype', () => {
    for (const key of ['__proto__', 'constructor', 'prototype', '\\u005f_proto__']) {
      assert.equal(fieldsOf(`{"a":{"${key}":{"polluted":1}}}`).length, 1, key);
    }
    assert.equal(({} as { polluted?: unknown }).polluted, undefined);
  });

  test('parseJson refuses only numbers that a double cannot represent', () => {
    assert.deepEqual(fieldsOf('[1e400,-1e400,-0,-0.0,9007199254740993,1e300,1e-400,-0.01e-999]'), [
      '/0',
      '/1',
      '/2',
      '/3',
      '/4',
      '/5',
      '/6',
      '/7',
    ]);
    assert.deepEqual(fieldsOf('[0,0.0e9,1e-300,5e-324,9007199254740991,-9007199254740991,0.1,1E2]'), []);
  });

  test('parseJson refuses only depths beyond the limit', () => {
    const nested = (depth: number) => '['.repeat(depth) + ']'.repeat(depth);
    assert.equal(fieldsOf(nested(MAX_JSON_DEPTH)).length, 0);
    assert.equal(fieldsOf(nested(MAX_JSON_DEPTH + 1)).length, 1);
    assert.equal(fieldsOf(nested(100_000)).length, 1);
  });

  test('parseJson refuses half surrogate pairs and reads long strings', () => {
    assert.deepEqual(fieldsOf('{"a":"\\ud800"}'), ['/a']);
    assert.equal(fieldsOf('{"\\udc00":1}').length, 1);
    const long = 'x\\"'.repeat(80_000);
    assert.equal((parseJson(`"${long}"`) as string).length, 160_000);
  });

  test('parseJson reports at most ten problems', () => {
    assert.equal(fieldsOf(`[${'-0,'.repeat(50)}0]`).length, 10);
  });

  test('parseJson refuses text that is not JSON or not UTF-8', () => {
    for (const text of ['', '{', 'NaN', "{'a':1}", '[1,]', '\ufeff{}']) {
      assert.throws(() => parseJson(text), { code: 'invalid-request' }, text);
    }
    assert.throws(() => parseJsonBytes(Buffer.from([0x22, 0xff, 0x22])), /not UTF-8/);
    assert.throws(() => parseJsonBytes(Buffer.from('\ufeff{}')), { code: 'invalid-request' });
    assert.deepEqual(parseJsonBytes(Buffer.from('{"ä":"😀"}')), { ä: '😀' });
  });
});

describe('canonicalJson', () => {
  test('canonicalJson is equal for equal values with another key order, and parses back to the value', () => {
    fc.assert(
      fc.property(fc.dictionary(fc.string(), fc.jsonValue()), (value) => {
        const turned = Object.fromEntries(Object.entries(value).reverse());
        assert.equal(canonicalJson(turned), canonicalJson(value));
        assert.deepEqual(JSON.parse(canonicalJson(value)), JSON.parse(JSON.stringify(value)));
      }),
    );
    assert.notEqual(canonicalJson([1, 2]), canonicalJson([2, 1]));
    assert.equal(canonicalJson({ b: 1, a: { d: 1, c: 2 } }), '{"a":{"c":2,"d":1},"b":1}');
  });
});

test('escapePointer follows RFC 6901, and clip returns a short well-formed text', () => {
  assert.equal(escapePointer('a/b~c'), 'a~1b~0c');
  assert.equal(clip('abc', 3), 'abc');
  assert.equal(clip('abcd', 3), 'abc…');
  assert.ok(clip(`ab${'😀'}`, 3).isWellFormed());
});
