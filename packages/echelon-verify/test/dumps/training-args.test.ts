import assert from 'node:assert/strict';
import { cp, mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { findTrainingArguments } from '../../src/dumps/training-args.ts';
import { DUMPS, folder } from '../support/dump-files.ts';
import { pickled, torchFile } from '../support/torch-bytes.ts';

test('the settings lie in the folder above the completions', async () => {
  const found = await findTrainingArguments(`${DUMPS}/trl/weights/completions/completions_00001.parquet`);
  assert.equal(found?.file, `${DUMPS}/trl/weights/training_args.bin`);
  const { num_generations, reward_weights, scale_rewards, eval_strategy } = found!.settings;
  assert.deepEqual(
    [num_generations, reward_weights, scale_rewards, eval_strategy],
    [4, [1, 0.3, 0.25], 'group', 'no'],
  );
});

test('of several checkpoints the newest is read, and a damaged file is none', async () => {
  await using dir = await folder();
  for (const [checkpoint, run] of [
    ['checkpoint-9', 'none'],
    ['checkpoint-10', 'batch'],
  ]) {
    await mkdir(join(dir.path, checkpoint!));
    await cp(`${DUMPS}/trl/${run}/training_args.bin`, join(dir.path, checkpoint!, 'training_args.bin'));
  }
  const near = join(dir.path, 'completions', 'x.parquet');
  assert.equal((await findTrainingArguments(near))?.settings.scale_rewards, 'batch');
  await dir.write('training_args.bin', 'no zip');
  assert.match((await findTrainingArguments(near))!.file, /checkpoint-10/);
  assert.equal(await findTrainingArguments('/nowhere/at/all/x'), undefined);
});

test('a setting that is a list inside itself is no setting', async () => {
  await using dir = await folder();
  const state = pickled.dict({ num_generations: pickled.int(4), reward_weights: pickled.endless() });
  const settings = Buffer.concat([
    pickled.call(pickled.global('trl', 'GRPOConfig')),
    state,
    Buffer.from('b'),
  ]);
  await dir.write('training_args.bin', torchFile(settings));
  const found = await findTrainingArguments(join(dir.path, 'x'));
  assert.deepEqual(found?.settings, { num_generations: 4, reward_weights: [undefined] });
});
