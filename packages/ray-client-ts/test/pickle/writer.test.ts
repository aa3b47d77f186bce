import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { RayPickleError } from '../../src/errors.ts';
import { PyCall, PyDict, PyFloat, PyGlobal, PyTuple } from '../../src/pickle/values.ts';
import { writePickle, writeSourcePickle } from '../../src/pickle/writer.ts';

const hex = (bytes: Uint8Array): string => Buffer.from(bytes).toString('hex');

describe('writePickle, on bytes that a real cluster accepted', () => {
  const worked: [string, unknown, string][] = [
    [
      'options',
      { num_cpus: 1, name: 'x', lifetime: 'detached' },
      '80047d288c086e756d5f637075734b018c046e616d658c01788c086c69666574696d658c086465746163686564752e',
    ],
    ['a global', new PyGlobal('os.path', 'basename'), '80048c076f732e706174688c08626173656e616d65932e'],
    ['no arguments', new PyTuple([], {}), '80045d7d862e'],
    ['one argument', new PyTuple([Buffer.from('hello')], {}), '80045d28430568656c6c6f657d862e'],
    [
      'arguments with a keyword',
      new PyTuple([42, 1.5], { flag: true }),
      '80045d284b2a473ff8000000000000657d288c04666c61678875862e',
    ],
    [
      'a call',
      new PyCall(new PyGlobal('ray.job_config', 'JobConfig.from_json'), { ray_namespace: 'studio' }),
      '80048c0e7261792e6a6f625f636f6e6669678c134a6f62436f6e6669672e66726f6d5f6a736f6e93' +
        '7d288c0d7261795f6e616d6573706163658c0673747564696f7585522e',
    ],
  ];
  for (const [name, value, expected] of worked) {
    test(name, () => assert.equal(hex(writePickle(value, { code: true })), expected));
  }

  test('writePickle writes an object reference inside arguments as a real cluster accepted it', () => {
    class Ref {}
    const stub = { type: 'Object', clientId: 'CID', id: Buffer.from([1, 2]), name: undefined };
    const bytes = writePickle(new PyTuple([new Ref()], {}), {
      stub: (value) => (value instanceof Ref ? stub : undefined),
    });
    assert.equal(
      hex(bytes),
      '80045d288c1e7261792e7574696c2e636c69656e742e636c69656e745f7069636b6c6572' +
        '8c0a5069636b6c655374756293288c064f626a6563748c03434944430201024e4e7481' +
        '51657d862e',
    );
  });

  test('writePickle writes a source text as a real cluster accepted it', () => {
    assert.equal(
      hex(writeSourcePickle('def f(a, b):\n    return a + b\n', 'f')),
      '80048c086275696c74696e738c0465786563938c1e646566206628612c2062293a0a2020202072657475726e2061202b20620a' +
        '7d948c085f5f6e616d655f5f8c085f5f6d61696e5f5f738652308c086f70657261746f728c076765746974656d93' +
        '68008c016686522e',
    );
  });
});

describe('writePickle, value by value', () => {
  const values: [unknown, string][] = [
    [null, '4e'],
    [true, '88'],
    [false, '89'],
    [0, '4b00'],
    [255, '4bff'],
    [256, '4d0001'],
    [65_536, '4a00000100'],
    [-1, '4affffffff'],
    [2 ** 31, '8a050000008000'],
    [2 ** 40, '8a06000000000001'],
    [-(2 ** 31) - 1, '8a05ffffff7fff'],
    [0n, '8a00'],
    [-128n, '8a0180'],
    [128n, '8a028000'],
    [2 ** 60, '4743b0000000000000'],
    [-0, '478000000000000000'],
    [new PyFloat(1), '473ff0000000000000'],
    [new PyTuple(), '29'],
    [new PyTuple(1, 2, 3, 4), '284b014b024b034b0474'],
    [new Set([1]), '8f284b0190'],
    [new Map([[1, 'a']]), '7d284b018c016175'],
    [{ gone: undefined }, '7d'],
  ];
  for (const [value, body] of values) {
    const name = typeof value === 'bigint' ? `${value}n` : JSON.stringify(value);
    test(`${name} is ${body}`, () => assert.equal(hex(writePickle(value)), `8004${body}2e`));
  }

  test('writePickle changes the form of text and bytes at 256 bytes', () => {
    assert.equal(hex(writePickle('a'.repeat(256)).subarray(2, 7)), '5800010000');
    assert.equal(hex(writePickle(new Uint8Array(256)).subarray(2, 7)), '4200010000');
    assert.equal(hex(writePickle('é')), '80048c02c3a92e');
  });
});

describe('writePickle refuses', () => {
  const cycle: unknown[] = [];
  cycle.push([cycle]);
  let deep: unknown = 0;
  for (let depth = 0; depth < 300; depth++) deep = [deep];
  const refused: [string, unknown, RegExp][] = [
    ['undefined', [undefined], /\$\[0\]: a value of type undefined/],
    ['a function', { f: () => {} }, /\$\.f: a value of type function/],
    ['a symbol', Symbol('x'), /type symbol/],
    ['a date', new Date(0), /class Date/],
    ['a view that is no array', new DataView(new ArrayBuffer(1)), /class DataView/],
    ['a cycle', cycle, /contains itself/],
    ['too deep a value', deep, /nested deeper/],
    ['a lone surrogate', '\ud800', /lone surrogate/],
    ['NaN as a key', new Map([[Number.NaN, 1]]), /keys/],
    ['a list as a key', new Map([[[1], 1]]), /keys/],
    ['code inside a value', [new PyGlobal('os', 'system')], /code \(os\.system\) is not allowed/],
    ['a call inside a value', [new PyCall(new PyGlobal('os', 'system'), 'ls')], /code/],
  ];
  for (const [name, value, message] of refused) {
    test(name, () => {
      assert.throws(
        () => writePickle(value),
        (error) => error instanceof RayPickleError && message.test(error.message),
      );
    });
  }
});

test('the same object twice is no cycle', () => {
  const shared = [1];
  assert.equal(hex(writePickle([shared, shared])), '80045d285d284b01655d284b0165652e');
});

test('the later of two equal keys wins', () => {
  const dict = new PyDict();
  dict.entries.push(['a', 1], ['a', 2]);
  assert.equal(dict.get('a'), 2);
  assert.equal(dict.get('b'), undefined);
});

test('a global prints as Python writes it', () => {
  assert.equal(String(new PyGlobal('os.path', 'join')), 'os.path.join');
});

test('a tuple keeps its items', () => {
  assert.deepEqual(new PyTuple(1, 'a').items, [1, 'a']);
});
