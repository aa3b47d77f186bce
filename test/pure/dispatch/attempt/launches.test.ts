import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createLaunches } from '../../../../src/dispatch/attempt/context.ts';

test('a launch is alone if no other launch on its cluster overlaps it, before or after its begin', () => {
  const launches = createLaunches();
  const first = launches.begin('a');
  const elsewhere = launches.begin('b');
  assert.deepEqual([first.isAlone(), elsewhere.isAlone()], [true, true]);
  const second = launches.begin('a');
  second.end();
  assert.deepEqual([first.isAlone(), second.isAlone()], [false, false]);
  first.end();
  assert.equal(launches.begin('a').isAlone(), true);
});
