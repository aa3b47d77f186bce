import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { RayPickleError } from '../../src/errors.ts';
import { toJavaScript } from '../../src/pickle/convert.ts';
import { OP } from '../../src/pickle/opcodes.ts';
import { readPickle } from '../../src/pickle/reader.ts';
import {
  type PyDict,
  PyGlobal,
  type PyObject,
  PyPersistentId,
  PyReadTuple,
} from '../../src/pickle/values.ts';
import { writePickle } from '../../src/pickle/writer.ts';

const read = (hex: string): unknown => readPickle(Buffer.from(hex.replaceAll(' ', ''), 'hex'));

describe('readPickle, on bytes that a real cluster sent', () => {
  const worked: [string, string, unknown][] = [
    ['5', '8005 4b05 2e', 5],
    ['bytes', '8005 950900000000000000 430568656c6c6f94 2e', Buffer.from('hello')],
    ['[5]', '8005 950600000000000000 5d94 4b0561 2e', [5]],
    ['None', '8005 4e 2e', null],
    ['True', '8005 88 2e', true],
    ['1.5', '8005 950a00000000000000 473ff8000000000000 2e', 1.5],
    ['2**40', '8005 950900000000000000 8a06000000000001 2e', 2 ** 40],
  ];
  for (const [name, hex, expected] of worked) {
    test(name, () => assert.deepEqual(read(hex), expected));
  }
});

describe('readPickle, opcode by opcode', () => {
  test('readPickle reads the memo in all its forms', () => {
    assert.deepEqual(read('8002 5d 7100 6800 30 2e'), []);
    assert.deepEqual(read('8002 8c0161 7205000000 30 6a05000000 2e'), 'a');
    assert.deepEqual(read('8004 28 8c0161 94 6800 6c 2e'), ['a', 'a']);
  });

  test('readPickle reads marks, POP_MARK and DUP', () => {
    assert.deepEqual(read('8004 4b01 28 4b02 4b03 31 2e'), 1);
    assert.deepEqual(read('8004 28 4b01 32 6c 2e'), [1, 1]);
    assert.deepEqual(read('8004 4b01 28 30 2e'), 1);
  });

  test('readPickle reads integers of any length', () => {
    assert.equal(read('8004 8a00 2e'), 0);
    assert.equal(read('8004 8a0180 2e'), -128);
    assert.equal(read('8004 8a02 8000 2e'), 128);
    assert.equal(read('8004 8b09000000 000000000000000001 2e'), 2n ** 64n);
  });

  test('readPickle reads dictionaries and sets', () => {
    assert.deepEqual((read('8004 28 8c01614b01 64 2e') as PyDict).entries, [['a', 1]]);
    assert.deepEqual((read('8004 7d 8c01614b01 73 2e') as PyDict).get('a'), 1);
    assert.deepEqual(read('8004 28 4b01 91 2e'), new Set([1]));
    assert.deepEqual(read('8004 8f 28 4b01 4b01 90 2e'), new Set([1]));
  });

  test('readPickle records names and calls, and performs none', () => {
    const value = read('8002 636f730a73797374656d0a 8c026c73 85 52 2e') as PyObject;
    assert.deepEqual(value.callable, new PyGlobal('os', 'system'));
    assert.deepEqual(value.args, new PyReadTuple(['ls']));
  });

  test('readPickle reads state, items and persistent ids', () => {
    const object = read('8004 8c01618c016293 29 81 8c0178 62 28 4b01 65 28 4b02 4b03 75 2e') as PyObject;
    assert.equal(object.state, 'x');
    assert.deepEqual(object.appended, [1]);
    assert.deepEqual(object.items, [[2, 3]]);
    assert.deepEqual(read('8004 4b01 51 2e'), new PyPersistentId(1));
  });

  test('readPickle gives bytes as views, not as copies', () => {
    const pickle = writePickle(Buffer.alloc(1000, 7));
    const bytes = readPickle(pickle) as Uint8Array;
    assert.equal(bytes.buffer, pickle.buffer);
  });
});

describe('readPickle refuses, saying what arrived', () => {
  const refused: [string, string, RegExp][] = [
    ['an unknown opcode', '8004 ff 2e', /unknown opcode 0xff, at 3/],
    ['out-of-band buffers', '8005 97 2e', /unknown opcode 0x97/],
    ['a future protocol', '8006 4e 2e', /protocol 6/],
    ['an empty pickle', '', /truncated/],
    ['no end', '8004 4e', /truncated/],
    ['a string beyond the end', '8004 8cff 61 2e', /truncated: 255 bytes/],
    ['a length beyond 2^53', '8004 8e ffffffffffffffff 2e', /truncated/],
    ['an empty stack', '8004 2e', /not one value/],
    ['two values', '8004 4e4e 2e', /not one value/],
    ['a pop of nothing', '8004 30 2e', /stack is empty/],
    ['a pop below a mark', '8004 4e 28 85 2e', /stack is empty/],
    ['no mark', '8004 65 2e', /no mark/],
    ['an unknown memo entry', '8004 6807 2e', /memo entry 7/],
    ['text that is not UTF-8', '8004 8c01ff 2e', /not UTF-8/],
    ['a global without names', '8004 4e4e93 2e', /global without a name/],
    ['an unfinished name', '8002 636f73', /middle of a name/],
    ['appending to a number', '8004 4b01 4e 61 2e', /no list/],
    ['a key without a value', '8004 7d 28 4e 75 2e', /key without a value/],
    ['items of a number', '8004 4b01 4e4e 73 2e', /no dictionary/],
    ['adding to a list', '8004 5d 28 4e 90 2e', /no set/],
    ['the state of a number', '8004 4b01 4e 62 2e', /no object/],
    ['a huge integer', `8004 8b00200000 ${'00'.repeat(8192)} 2e`, /8192 bytes/],
  ];
  for (const [name, hex, message] of refused) {
    test(name, () => {
      assert.throws(
        () => read(hex),
        (error) => error instanceof RayPickleError && message.test(error.message),
      );
    });
  }
});

describe('readPickle under fuzzing', () => {
  const key = fc.string({ unit: 'grapheme' }).filter((text) => text !== '__proto__');
  const value = fc.letrec((tie) => ({
    any: fc.oneof(
      { maxDepth: 4 },
      fc.constant(null),
      fc.boolean(),
      fc.double({ noNaN: true }),
      fc.integer(),
      fc.bigInt({ min: 2n ** 53n, max: 2n ** 200n }),
      fc.string({ unit: 'grapheme' }),
      fc.uint8Array(),
      fc.array(tie('any'), { maxLength: 5 }),
      fc.dictionary(key, tie('any'), { maxKeys: 5, noNullPrototype: true }),
    ),
  })).any;

  test('readPickle reads back every value that writePickle wrote', () => {
    fc.assert(
      fc.property(value, (original) => {
        const back = toJavaScript(readPickle(writePickle(original)));
        assert.deepEqual(normalise(back), normalise(original));
      }),
      { numRuns: 500 },
    );
  });

  test('readPickle of any bytes gives a value or a RayPickleError', () => {
    const interesting = fc.constantFrom(...Buffer.from('28295d7d858652938194956871303262659061736e', 'hex'));
    const bytes = fc.array(fc.oneof(interesting, fc.integer({ min: 0, max: 255 })), { maxLength: 60 });
    fc.assert(
      fc.property(bytes, (body) => settles(Uint8Array.from([0x80, 4, ...body, 0x2e]))),
      { numRuns: 5_000 },
    );
  });

  test('readPickle of a valid pickle with one byte changed gives a value or a RayPickleError', () => {
    fc.assert(
      fc.property(value, fc.nat(), fc.integer({ min: 0, max: 255 }), (original, at, byte) => {
        const pickle = Uint8Array.from(writePickle(original));
        pickle[at % pickle.length] = byte;
        settles(pickle);
      }),
      { numRuns: 2_000 },
    );
  });
});

function settles(pickle: Uint8Array): void {
  try {
    toJavaScript(readPickle(pickle));
  } catch (error) {
    assert.ok(error instanceof RayPickleError, String(error));
  }
}

/** Buffers and their views compare as bytes; whole floats are integers after reading, and equal to them. */
function normalise(value: unknown): unknown {
  if (value instanceof Uint8Array) return [...value];
  if (Array.isArray(value)) return value.map(normalise);
  if (typeof value !== 'object' || value === null) return Object.is(value, -0) ? 0 : value;
  return Object.entries(value).map(([name, member]) => [name, normalise(member)]);
}

test('no two opcodes share a byte', () => {
  const codes = Object.values(OP);
  assert.equal(new Set(codes).size, codes.length);
  for (const code of codes) assert.ok(Number.isInteger(code) && code > 0 && code < 256);
});
