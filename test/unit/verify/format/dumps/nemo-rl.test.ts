import assert from 'node:assert/strict';
import { test } from 'node:test';
import { NEMO_RL } from '../../../../../src/verify/format/dumps/nemo-rl.ts';
import { adapterFor } from '../../../../../src/verify/format/dumps/registry.ts';
import { verifyDump } from '../../../../../src/verify/verify-dump.ts';
import { folder, jsonLines, stepsOf } from '../../../../support/dump-files.ts';

/** A line in the documented layout (synthetic): each value a list of one. */
const row = (idx: number, prompt: number[], reward: number, advantage: number | number[]) => ({
  content: ['text'],
  rewards: [reward],
  token_ids: [[...prompt, 90 + idx, 91]],
  token_loss_mask: [[...prompt.map(() => 0), 1, 1]],
  advantages: [[...prompt.map(() => 0), ...(Array.isArray(advantage) ? advantage : [advantage, advantage])]],
  generation_logprobs: [[-1, -Infinity]],
  idx,
});
const ROWS = [row(0, [1, 2], 1, 0.5), row(1, [1, 2], 0, -0.5), row(2, [1, 3], 1, 0), row(3, [1, 3], 1, 0)];

async function write(rows: readonly unknown[], name = 'train_data_step12.jsonl') {
  const dir = await folder();
  return {
    path: await dir.write(name, jsonLines(rows)),
    [Symbol.asyncDispose]: () => dir[Symbol.asyncDispose](),
  };
}

test('equal prompt tokens are a group, and an advantage stands at the trained tokens', async () => {
  await using file = await write(ROWS);
  assert.equal(await adapterFor(file.path), NEMO_RL);
  const [step] = await stepsOf(NEMO_RL, [file.path]);
  assert.deepEqual([step!.name, step!.trainingStep, [...step!.group.ids]], ['step 12', 12, [0, 0, 1, 1]]);
  assert.deepEqual(
    [[...step!.reward], [...step!.advantage!], step!.findings],
    [[1, 0, 1, 1], [0.5, -0.5, 0, 0], []],
  );
  assert.deepEqual([...step!.responseLength!], [2, 2, 2, 2]);
});

test('a group with a masked response is not verified, and said so', async () => {
  await using file = await write([...ROWS.slice(0, 3), { ...ROWS[3], sample_loss_mask: [0] }]);
  const [step] = await stepsOf(NEMO_RL, [file.path]);
  assert.deepEqual([[...step!.reward], step!.rowsInDump, step!.responseLength], [[1, 0], 4, undefined]);
  assert.deepEqual(
    step!.findings.map(({ code }) => code),
    ['groups-untrained'],
  );
});

test('filtered rewards are those that were used', async () => {
  await using file = await write([{ ...ROWS[0], filtered_rewards: [7] }]);
  assert.deepEqual([...(await stepsOf(NEMO_RL, [file.path]))[0]!.reward], [7]);
});

test('advantages that vary over the tokens are not verified, and said so', async () => {
  await using file = await write([...ROWS.slice(0, 3), row(3, [1, 3], 1, [0, 0.1])]);
  const [report] = await Array.fromAsync(verifyDump(NEMO_RL, [file.path]));
  assert.deepEqual([report!.ok, report!.unverifiable], [false, 4]);
  assert.ok(report!.findings.some(({ code, rows }) => code === 'advantage-per-token' && rows[0] === 3));
});

test('a gap in the index is an error', async () => {
  await using file = await write([ROWS[0], ROWS[2]]);
  const [step] = await stepsOf(NEMO_RL, [file.path]);
  assert.deepEqual(
    step!.findings.map(({ code }) => code),
    ['rows-lost'],
  );
});
