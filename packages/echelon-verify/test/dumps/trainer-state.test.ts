import assert from 'node:assert/strict';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { findTrainerState } from '../../src/dumps/trainer-state.ts';
import { folder } from '../support/dump-files.ts';

const entry = (step: number, more: object) => ({ step, reward: 1, ...more });

test('the record of the newest checkpoint tells the evaluations and the reward functions', async () => {
  await using dir = await folder();
  for (const [step, log_history] of [
    [2, [entry(1, { 'rewards/old/mean': 1 })]],
    [
      10,
      [
        entry(1, { 'rewards/a/mean': 0.5, 'rewards/b/c/mean': 0.5 }),
        entry(5, { eval_loss: 1 }),
        entry(5, { eval_loss: 1 }),
      ],
    ],
  ] as const) {
    await mkdir(join(dir.path, `checkpoint-${step}`));
    const text = JSON.stringify({ global_step: step, max_steps: 20, log_history });
    await dir.write(`checkpoint-${step}/trainer_state.json`, text);
  }
  const near = join(dir.path, 'completions', 'x.parquet');
  const means = new Map([
    ['a', 0.5],
    ['b/c', 0.5],
  ]);
  const logged = new Map([[1, { reward: 1, means }]]);
  const found = { step: 10, maxSteps: 20, evaluated: [5], rewards: ['a', 'b/c'], sharesNames: false, logged };
  assert.deepEqual(await findTrainerState(near), found);
});

test('a total reward that is twice the mean of the only name is that of two functions', async () => {
  await using dir = await folder();
  const shares = async (reward: number, mean: number) => {
    const log_history = [{ step: 1, reward, 'rewards/a/mean': mean }];
    await dir.write('trainer_state.json', JSON.stringify({ global_step: 1, log_history }));
    return (await findTrainerState(join(dir.path, 'x.parquet')))!.sharesNames;
  };
  assert.deepEqual([await shares(1, 0.5), await shares(0.5, 0.5), await shares(0, 0)], [true, false, false]);
});

test('a file that is no record is none', async () => {
  await using dir = await folder();
  for (const text of ['{', '[]', '{"log_history": 1}']) {
    await dir.write('trainer_state.json', text);
    assert.equal(await findTrainerState(join(dir.path, 'x.parquet')), undefined);
  }
});
