import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { BatchRows } from 'echelon-client/calls';
import { isDigestsOnly, scaleOf, siblingsOf, stepsOf, triedIn } from '../../src/models/trajectory.ts';

const ROWS = {
  row: [4, 5, 6, 9],
  groups: ['g', 'h'],
  group: [0, 0, 0, 1],
  trajectories: ['s', 't', 'u'],
  trajectory: [1, 0, 1, 2],
  step: [0, 0, 1, 0],
  observations: ['a kitchen', 'a bath'],
  observation: [0, 0, 1, 0],
  actions: ['go', 'stay'],
  action: [0, 1, 0, 0],
  outcome: ['exact', 'wrong', 'exact', 'exact'],
  stepReturn: [1, 3, null, 2],
  score: [1, 1, 1, 1],
  reported: [-0.5, 2, null, 1],
  true: [-0.5, 1, 0, 1],
} as unknown as BatchRows;

test('a row has its names and texts; a batch without texts of actions has none', () => {
  const [first] = stepsOf(ROWS);
  assert.equal(first!.trajectory, 't');
  assert.deepEqual([first!.observation, first!.action], ['a kitchen', 'go']);
  assert.equal(stepsOf({ ...ROWS, actions: null, action: null })[0]!.action, null);
});

test('digests in the place of all texts are known as such', () => {
  assert.ok(isDigestsOnly({ observations: ['0123456789abcdef0123456789abcdef'] }));
  assert.ok(isDigestsOnly({ observations: null }));
  assert.ok(!isDigestsOnly(ROWS));
});

test('siblings are the trajectories of the same group, once each', () => {
  assert.deepEqual(siblingsOf(ROWS, 's'), ['t', 's']);
  assert.deepEqual(siblingsOf(ROWS, 'u'), ['u']);
  assert.deepEqual(siblingsOf(ROWS, 'missing'), []);
});

test('rows of a state are grouped by action, the best return first; a missing value is the least', () => {
  const tried = triedIn(stepsOf(ROWS));
  assert.deepEqual(
    tried.map(({ action, members }) => [action, members.map(({ row }) => row)]),
    [
      ['stay', [5]],
      ['go', [9, 4, 6]],
    ],
  );
  assert.deepEqual([tried[1]!.meanReturn, tried[1]!.meanAdvantage], [1.5, 0.25]);
});

test('bars are scaled by the greatest advantage', () => {
  assert.equal(scaleOf(stepsOf(ROWS)), 2);
  assert.ok(scaleOf([]) > 0);
});
