import assert from 'node:assert/strict';
import { test } from 'node:test';
import { nearestName } from '../src/nearest.ts';

const NAMES = ['name', 'historyLength', 'lengthWeightAlpha', 'groupSize', 'seed'];

test('finds the name behind a slip, another case or another separator', () => {
  assert.equal(nearestName('nmae', NAMES), 'name');
  assert.equal(nearestName('history_length', NAMES), 'historyLength');
  assert.equal(nearestName('HISTORY-LENGTH', NAMES), 'historyLength');
  assert.equal(nearestName('lenghtWeigthAlpha', NAMES), 'lengthWeightAlpha');
  const columns = ['actionValid', 'reward', 'step'];
  assert.deepEqual(
    ['actionvalid', 'rewrad', 'steps', 'colour'].map((typed) => nearestName(typed, columns)),
    ['actionValid', 'reward', 'step', undefined],
  );
});

test('a text that is near no name gives none, and a very long text is not measured', () => {
  assert.equal(nearestName('temperature', NAMES), undefined);
  assert.equal(nearestName('', NAMES), undefined);
  assert.equal(nearestName('x', []), undefined);
  assert.equal(nearestName('name'.repeat(100), NAMES), undefined);
});
