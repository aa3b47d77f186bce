import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { canonicalText, labelOf } from '../../src/format/observation.ts';

const same = (...values: unknown[]) => assert.equal(new Set(values.map(canonicalText)).size, 1);
const different = (...values: unknown[]) =>
  assert.equal(new Set(values.map(canonicalText)).size, values.length);

test('numbers are equal by value, texts are another kind', () => {
  same(1, 1.0, true, 1n);
  same(0, -0, false);
  different(1, '1', 'true', [1], null);
});

test('arrays count flattened, lists do not', () => {
  same(
    { ndarray: [1, 2, 3, 4], dtype: 'int64' },
    {
      ndarray: [
        [1, 2],
        [3, 4],
      ],
      dtype: 'float32',
    },
    [1, 2, 3, 4],
  );
  different(
    [
      [1, 2],
      [3, 4],
    ],
    [1, 2, 3, 4],
  );
});

test('the order of keys does not matter, their values do', () => {
  same({ room: 'a', bag: [1] }, { bag: [1], room: 'a' });
  different({ room: 'a' }, { room: 'b' }, { rooms: 'a' });
});

test('different texts never meet, and a label gives a text back', () => {
  fc.assert(
    fc.property(fc.jsonValue(), fc.jsonValue(), fc.string(), (a, b, text) => {
      if (typeof a === 'string' && typeof b === 'string')
        assert.equal(canonicalText(a) === canonicalText(b), a === b);
      assert.equal(labelOf(canonicalText(text)), text);
    }),
  );
  assert.equal(labelOf('[1,2]'), '[1,2]');
});

test('a label of a text that is no JSON is the text', () => {
  assert.equal(labelOf('"unfinished'), '"unfinished');
});
