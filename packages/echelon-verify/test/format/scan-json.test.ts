import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { scanJson } from '../../src/format/scan-json.ts';

const limits = { depth: 8, containers: 100, keyBytes: 1000 };
const scan = (text: string) => scanJson(Buffer.from(text), limits);

test('finds keys given twice, also if one is escaped, and not across objects', () => {
  assert.deepEqual(scan('{"a":1,"b":2,"a":3}'), { kind: 'duplicate-key', offset: 13, detail: 'a' });
  assert.equal(scan('{"a":1, "\\u0061" :2}')?.kind, 'duplicate-key');
  assert.equal(scan('[{"a":1},{"a":{"a":2}},"a","a"]'), undefined);
});

test('finds what is too deep, too many, or no JSON number, but not inside texts', () => {
  assert.equal(scan('['.repeat(9))?.kind, 'too-deep');
  assert.equal(scan(`[${'{},'.repeat(100)}`)?.kind, 'too-many');
  assert.deepEqual(scan('[1,NaN]'), { kind: 'not-a-number', offset: 3, detail: 'NaN' });
  assert.deepEqual(scan('[-Infinity]'), { kind: 'not-a-number', offset: 2, detail: 'Infinity' });
  assert.equal(scan('["[[[[[[[[[[ NaN \\" {{{{{{{{{{ Infinity"]'), undefined);
});

test('passes every JSON text within its limits, and ends on any bytes', () => {
  fc.assert(
    fc.property(fc.jsonValue({ maxDepth: 4 }), fc.uint8Array(), (value, bytes) => {
      assert.equal(
        scanJson(Buffer.from(JSON.stringify(value)), { depth: 8, containers: 1e6, keyBytes: 1000 }),
        undefined,
      );
      scanJson(bytes, limits);
    }),
  );
});

test('keys that are too long or too many are found before they are parsed', () => {
  const few = { depth: 8, containers: 3, keyBytes: 10 };
  const kindOf = (value: unknown) => scanJson(Buffer.from(JSON.stringify(value)), few)?.kind;
  assert.equal(kindOf({ ['k'.repeat(9)]: 1 }), undefined);
  assert.equal(kindOf({ ['k'.repeat(10)]: 1 }), 'too-long');
  assert.equal(kindOf({ a: 1, b: 2, c: 3 }), undefined);
  assert.equal(kindOf({ a: 1, b: 2, c: 3, d: 4 }), 'too-many');
});
