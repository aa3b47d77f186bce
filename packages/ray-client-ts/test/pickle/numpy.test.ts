import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, test } from 'node:test';
import { RayPickleError } from '../../src/errors.ts';
import { toJavaScript } from '../../src/pickle/convert.ts';
import { convertNumpy } from '../../src/pickle/numpy.ts';
import { readPickle } from '../../src/pickle/reader.ts';
import { PyObject, PyReadTuple } from '../../src/pickle/values.ts';

const pickles = JSON.parse(readFileSync(new URL('./numpy-pickles.json', import.meta.url), 'utf8')) as Record<
  string,
  string
>;
const read = (name: string): unknown => toJavaScript(readPickle(Buffer.from(pickles[name] ?? '', 'hex')));

describe('numpy, from pickles of numpy itself', () => {
  const readable: [string, unknown][] = [
    ['float64', Float64Array.of(0, 1, 2)],
    ['float32', Float32Array.of(1.5)],
    ['float32Protocol4', Float32Array.of(0, 1)],
    ['int64', BigInt64Array.of(1n, -2n, 2n ** 60n)],
    ['uint8', Uint8Array.of(0, 255)],
    ['bool', [true, false]],
    ['scalarFloat64', 1.5],
    ['scalarInt64', 7],
    ['scalarUint64', 2n ** 63n],
    ['scalarBool', true],
  ];
  for (const [name, expected] of readable) {
    test(`${name} is readable`, () => assert.deepEqual(read(name), expected));
  }

  const refused: [string, RegExp][] = [
    ['matrix', /shape \(2, 2\)/],
    ['bigEndian', /dtype/],
    ['text', /dtype U1/],
  ];
  for (const [name, message] of refused) {
    test(`${name} is refused`, () => {
      assert.throws(
        () => read(name),
        (error) => error instanceof RayPickleError && message.test(error.message),
      );
    });
  }
});

test('numpy 1 has other names for the same', () => {
  const node = readPickle(Buffer.from(pickles.scalarInt64 ?? '', 'hex')) as PyObject;
  assert.deepEqual(convertNumpy('numpy.core.multiarray.scalar', node), { value: 7 });
  assert.equal(convertNumpy('numpy.random.thing', node), undefined);
});

test('a scalar without bytes is an error', () => {
  const node = readPickle(Buffer.from(pickles.scalarInt64 ?? '', 'hex')) as PyObject;
  const dtype = (node.args as PyReadTuple).items[0];
  const broken = new PyObject(node.callable, new PyReadTuple([dtype, 'no bytes']));
  assert.throws(() => toJavaScript(broken), /not bytes/);
});

test('half precision: the whole range, from denormals to infinity', () => {
  const halves: [number, number][] = [
    [0x0000, 0],
    [0x8000, -0],
    [0x0001, 2 ** -24],
    [0x03ff, 1023 * 2 ** -24],
    [0x0400, 2 ** -14],
    [0x3c00, 1],
    [0xc000, -2],
    [0x3555, 0.333251953125],
    [0x7bff, 65_504],
    [0x7c00, Number.POSITIVE_INFINITY],
    [0xfc00, Number.NEGATIVE_INFINITY],
    [0x7e00, Number.NaN],
  ];
  const scalar = readPickle(Buffer.from(pickles.scalarInt64 ?? '', 'hex')) as PyObject;
  const dtype = (scalar.args as PyReadTuple).items[0] as PyObject;
  const half = new PyObject(dtype.callable, new PyReadTuple(['f2', false, true]));
  for (const [bits, expected] of halves) {
    const bytes = Uint8Array.of(bits & 0xff, bits >> 8);
    const node = new PyObject(scalar.callable, new PyReadTuple([half, bytes]));
    assert.deepEqual(toJavaScript(node), expected);
  }
});
