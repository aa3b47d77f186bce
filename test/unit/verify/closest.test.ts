import assert from 'node:assert/strict';
import { test } from 'node:test';
import { closest } from '../../../src/verify/closest.ts';

test('finds what was probably meant, and nothing where nothing is near', () => {
  const names = ['actionValid', 'reward', 'step'];
  assert.equal(closest('actionvalid', names), 'actionValid');
  assert.equal(closest('rewrad', names), 'reward');
  assert.equal(closest('steps', names), 'step');
  assert.equal(closest('colour', names), undefined);
});
