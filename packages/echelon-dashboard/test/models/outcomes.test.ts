import assert from 'node:assert/strict';
import { test } from 'node:test';
import { inWords, partsOf, SHAPES, worstOf } from '../../src/models/outcomes.ts';

const NONE = { exact: 0, rounding: 0, wrong: 0, unverifiable: 0 };

test('the parts of a bar cover all rows, those without an outcome as pending', () => {
  const parts = partsOf({ ...NONE, exact: 6, wrong: 2 }, 10);
  assert.deepEqual(
    parts.map(({ outcome, rows }) => [outcome, rows]),
    [
      ['exact', 6],
      ['wrong', 2],
      ['pending', 2],
    ],
  );
  assert.equal(inWords({ ...NONE, exact: 6, wrong: 2 }, 10), '6 exact, 2 wrong, 2 not yet verified');
  assert.equal(inWords(NONE, 0), 'no rows yet');
});

test('one wrong row or a contradiction decides the cell of a batch', () => {
  const of = (counts: object, ...errors: string[]) => worstOf({ ...NONE, ...counts, errors });
  assert.equal(of({ exact: 1000, wrong: 1 }), 'wrong');
  assert.equal(of({ rounding: 1, unverifiable: 1 }), 'unverifiable');
  assert.equal(of({}), 'exact');
  // Shuffled rows, each right for its place.
  assert.equal(of({ exact: 1000 }, 'steps-out-of-order'), 'wrong');
  assert.equal(of({ unverifiable: 4 }, 'not-verifiable'), 'unverifiable');
});

test('every outcome has a shape of its own', () => {
  assert.equal(new Set(Object.values(SHAPES)).size, Object.keys(SHAPES).length);
});
