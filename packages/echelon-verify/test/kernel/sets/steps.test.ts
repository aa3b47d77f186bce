import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  checkHistoryLength,
  checkLength,
  idCount,
  MAX_HISTORY_LENGTH,
} from '../../../src/kernel/sets/steps.ts';

test('idCount is one more than the largest id, and refuses negative ones', () => {
  assert.equal(idCount('group', Int32Array.of(4, 0, 2)), 5);
  assert.equal(idCount('group', new Int32Array(0)), 0);
  assert.throws(() => idCount('group', Int32Array.of(0, -5)), /column group holds a negative id/);
});

test('checkLength names the column and both lengths', () => {
  checkLength('score', new Float64Array(2), 2);
  assert.throws(() => checkLength('score', new Float64Array(2), 3), /column score has 2 entries, expected 3/);
});

test('checkHistoryLength takes integers from 0 to its bound', () => {
  for (const good of [0, 1, MAX_HISTORY_LENGTH]) checkHistoryLength(good);
  for (const bad of [-1, 1.5, MAX_HISTORY_LENGTH + 1, Number.NaN]) {
    assert.throws(() => checkHistoryLength(bad), RangeError);
  }
});
