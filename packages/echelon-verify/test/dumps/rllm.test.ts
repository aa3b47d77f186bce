import assert from 'node:assert/strict';
import { mkdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { adapterFor } from '../../src/dumps/registry.ts';
import { RLLM } from '../../src/dumps/rllm.ts';
import { verifyDump } from '../../src/verify/verify-dump.ts';
import { type Folder, folder, stepsOf } from '../support/dump-files.ts';

/** An episode in the documented layout (synthetic). */
async function write(
  dir: Folder,
  id: string,
  reward: number | null,
  { step = 1, mode = 'train' } = {},
): Promise<string> {
  const place = `${mode}_step_${step}_epoch_0`;
  await mkdir(join(dir.path, place), { recursive: true });
  const trajectory = {
    name: 'solver',
    uid: id,
    reward,
    steps: [{ action: 'x', reward: 0 }, { reward: 0.5 }],
  };
  const episode = {
    ...{ training_step: step, epoch: 0, episode_id: id, session_id: null, task: { text: 'y' } },
    ...{ task_hash: 'ab', is_correct: true, trajectories: [trajectory] },
  };
  return await dir.write(`${place}/episode_${id.replace(':', '_')}.json`, JSON.stringify(episode, null, 2));
}

test('the episodes of a folder are a step, the trajectories of a task and a name its groups', async () => {
  await using dir = await folder();
  const files = [
    await write(dir, 'a:0', 1),
    await write(dir, 'a:1', 0),
    await write(dir, 'b:0', null),
    await write(dir, 'a:0', 0, { step: 2 }),
  ];
  for (const file of files) assert.equal(await adapterFor(file), RLLM);
  assert.deepEqual(
    (await stepsOf(RLLM, files)).map(({ name, group, reward }) => [name, group.names, [...reward]]),
    [
      ['step 1', ['a/solver', 'b/solver'], [1, 0, 0.5]],
      ['step 2', ['a/solver'], [0]],
    ],
  );
  const [report] = await Array.fromAsync(verifyDump(RLLM, files));
  assert.deepEqual(report!.example!.advantages.map(Math.round), [1, -1]);
});

test('an episode of a validation is not read as one of the training', async () => {
  await using dir = await folder();
  assert.notEqual(await adapterFor(await write(dir, 'a:0', 1, { mode: 'val' })), RLLM);
});

test('a file without trajectories is refused', async () => {
  await using dir = await folder();
  const file = await dir.write('a.json', '{"training_step": 1, "episode_id": "a:0", "session_id": null}');
  await assert.rejects(stepsOf(RLLM, [file]), /expected an episode of rLLM/);
});

test('an episode that a step holds twice is refused', async () => {
  await using dir = await folder();
  const first = await write(dir, 'a:0', 1);
  const copy = await dir.write('train_step_1_epoch_0/copy.json', await readFile(first));
  await assert.rejects(stepsOf(RLLM, [first, copy]), /an episode_id that no other episode of the step has/);
});
