import assert from 'node:assert/strict';
import { test } from 'node:test';
import { promptBlocksStep, unscoredAsNaN } from '../../src/dumps/prompt-blocks.ts';

const made = (prompts: string[], values: number[][], trainingStep = 2) =>
  promptBlocksStep(
    {
      file: 'f',
      trainingStep,
      prompts,
      rewards: values.map((value, i) => ({ name: `r${i}`, value: Float64Array.from(value) })),
      advantage: new Float64Array(prompts.length),
    },
    { weights: values.map((_, i) => i + 1) },
  );

test('the reward is the weighted sum, and the functions are kept one by one', () => {
  const step = made(
    ['a', 'a'],
    [
      [1, 0],
      [0.5, 1],
    ],
  );
  assert.deepEqual([step.name, [...step.reward], [...step.group.ids]], ['step 2', [2, 2], [0, 0]]);
  assert.deepEqual(
    step.rewards?.map(({ name, weight }) => [name, weight]),
    [
      ['r0', 1],
      ['r1', 2],
    ],
  );
  assert.equal(made(['a', 'a'], [[1, 0]]).rewards?.length, 1);
});

test('without a number of the step the file is its name, without repetition the groups are unknown', () => {
  const step = made(['a', 'b'], [[1, 0]], Number.NaN);
  assert.deepEqual([step.name, step.findings.map(({ code }) => code)], ['f', ['group-size-unknown']]);
});

test('the reward of a row is NaN if no function scored it', () => {
  const step = made(
    ['a', 'a', 'a'],
    [
      [1, Number.NaN, Number.NaN],
      [Number.NaN, Number.NaN, 0],
    ],
  );
  assert.deepEqual([...step.reward], [1, 0, 0]);
  assert.deepEqual([...unscoredAsNaN(step).reward], [1, Number.NaN, 0]);
});
