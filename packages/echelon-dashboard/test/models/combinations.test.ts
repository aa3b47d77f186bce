import assert from 'node:assert/strict';
import { test } from 'node:test';
import { coordinateOf, differencesOf, namesOf } from '../../src/models/combinations.ts';

const of = (estimator: object, seed: number) => ({ '/estimator': estimator, '/training/seed': seed });

test('a combination is named by the fields in which it differs from the others, in words', () => {
  const hgpo = { name: 'hgpo', historyLength: 2, mode: 'mean_norm' };
  const grpo = { name: 'grpo', mode: 'mean_norm' };
  assert.deepEqual(namesOf([of(hgpo, 3), of(grpo, 3), of(hgpo, 4)]), [
    'hgpo, K=2, seed 3',
    'grpo, seed 3',
    'hgpo, K=2, seed 4',
  ]);
  assert.deepEqual(namesOf([{}]), ['all children']);
});

test('an axis of parallel coordinates has numbers in their order, and no place for a field that is absent', () => {
  const [, history] = differencesOf([
    of({ name: 'hgpo', historyLength: 4 }, 1),
    of({ name: 'hgpo', historyLength: 1 }, 1),
    of({ name: 'grpo' }, 1),
  ]);
  const { title, places, ticks } = coordinateOf(history!);
  assert.deepEqual([title, places], ['K', [1, 0, undefined]]);
  assert.deepEqual(
    ticks.map(({ text }) => text),
    ['1', '4'],
  );
});
