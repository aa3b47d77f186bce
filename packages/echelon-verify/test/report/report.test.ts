import assert from 'node:assert/strict';
import { test } from 'node:test';
import { DISPLAY_FLOOR, DISPLAY_TOLERANCE, MAX_LISTED_ROWS } from '../../src/report/report.ts';

test('the display constant is far above float32 rounding and is stated, not tuned', () => {
  assert.deepEqual([DISPLAY_TOLERANCE, DISPLAY_FLOOR, MAX_LISTED_ROWS], [1e-4, 0.01, 1000]);
  assert.ok(DISPLAY_TOLERANCE > 1000 * 2 ** -24);
});
