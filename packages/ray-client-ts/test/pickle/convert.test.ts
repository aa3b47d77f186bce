import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { RayPickleError } from '../../src/errors.ts';
import { className, elements, toJavaScript } from '../../src/pickle/convert.ts';
import { readPickle } from '../../src/pickle/reader.ts';
import { PyGlobal, PyObject, PyReadTuple, type RayStub } from '../../src/pickle/values.ts';
import { writePickle } from '../../src/pickle/writer.ts';

const from = (hex: string): unknown => toJavaScript(readPickle(Buffer.from(hex.replaceAll(' ', ''), 'hex')));
const refuses = (act: () => unknown, message: RegExp): void => {
  assert.throws(act, (error) => error instanceof RayPickleError && message.test(error.message));
};

describe('toJavaScript', () => {
  test('tuples become arrays, dictionaries objects', () => {
    assert.deepEqual(from('8004 4b01 4b02 86 2e'), [1, 2]);
    assert.deepEqual(from('8004 7d 8c0161 4b01 73 2e'), { a: 1 });
  });

  test('a key set twice has its later value', () => {
    assert.deepEqual(from('8004 7d 28 8c0161 4b01 8c0161 4b02 75 2e'), { a: 2 });
  });

  test('a dictionary with another key becomes a Map, and so does one with __proto__', () => {
    assert.deepEqual(
      from('8004 7d 28 8c0161 4b01 4b02 4b03 75 2e'),
      new Map<unknown, unknown>([
        ['a', 1],
        [2, 3],
      ]),
    );
    const tricky = toJavaScript(readPickle(writePickle(new Map([['__proto__', 1]]))));
    assert.deepEqual(tricky, new Map([['__proto__', 1]]));
  });

  test('toJavaScript reads an ordered dictionary as a dictionary', () => {
    const odict = `8004 8c0b${Buffer.from('collections').toString('hex')}8c0b${Buffer.from('OrderedDict').toString('hex')}93 29 52 28 8c0161 4b01 75 2e`;
    assert.deepEqual(from(odict), { a: 1 });
  });

  test('what is shared stays shared, so that nesting does not explode', () => {
    let hex = '8004 5d 94';
    for (let level = 0; level < 100; level++) {
      const previous = level.toString(16).padStart(2, '0');
      hex += `30 28 68${previous} 68${previous} 6c 94`;
    }
    const value = from(`${hex} 2e`) as unknown[];
    assert.equal(value[0], value[1]);
  });

  test('a cycle, too deep a value, a global and an unknown class are errors that name them', () => {
    refuses(() => from('8004 5d 94 6800 61 2e'), /contains itself/);
    refuses(() => from(`8004 ${'28'.repeat(300)} ${'6c'.repeat(300)} 2e`), /nested deeper/);
    refuses(() => from('8002 636f730a73797374656d0a 2e'), /os\.system/);
    refuses(() => from('8002 636f730a73797374656d0a 29 52 2e'), /a value of type os\.system/);
  });
});

describe('references', () => {
  const written = (): Uint8Array => {
    const handle = {};
    const stub = { type: 'Actor', clientId: 'c', id: Buffer.from([9]), name: undefined };
    return writePickle([handle], { stub: (value) => (value === handle ? stub : undefined) });
  };

  test('references are resolved in the form in which they are written', () => {
    const seen: RayStub[] = [];
    const resolve = (stub: RayStub): string => `handle ${seen.push(stub)}`;
    assert.deepEqual(toJavaScript(readPickle(written()), { resolve }), ['handle 1']);
    assert.equal(seen[0]?.type, 'Actor');
    assert.deepEqual([...(seen[0]?.id ?? [])], [9]);
  });

  test('references are resolved in the form in which Ray sends them', () => {
    const stubClass = new PyGlobal('ray.util.client.client_pickler', 'PickleStub');
    const fields = new PyReadTuple(['Object', 'c', Buffer.from([1]), null, null]);
    const payload = new PyObject(
      new PyGlobal('copyreg', '_reconstructor'),
      new PyReadTuple([stubClass, new PyGlobal('builtins', 'tuple'), fields]),
    );
    const node = readPickle(Buffer.from('80044e512e', 'hex')) as { payload: unknown };
    const resolve = (stub: RayStub): string => stub.type;
    assert.equal(toJavaScript(Object.assign(node, { payload }), { resolve }), 'Object');
  });

  test('references are errors if no reference is expected, and if their form is unknown', () => {
    refuses(() => toJavaScript(readPickle(written())), /reference \(Actor\)/);
    refuses(() => from('8004 4e 51 2e'), /unknown form/);
  });
});

test('className and elements', () => {
  assert.equal(className(new PyObject(new PyGlobal('a', 'B.c'), null)), 'a.B.c');
  assert.equal(className(new PyObject(null, null)), '?');
  assert.deepEqual(elements(new PyReadTuple([1])), [1]);
  assert.deepEqual(elements('no'), []);
});
