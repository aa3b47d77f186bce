import assert from 'node:assert/strict';
import { test } from 'node:test';
import { adapterFor } from '../../src/dumps/registry.ts';
import { ROLL } from '../../src/dumps/roll.ts';
import { verifyDump } from '../../src/verify/verify-dump.ts';
import { type Folder, folder, jsonLines, stepsOf } from '../support/dump-files.ts';

/** A file in the documented layout (synthetic). */
const write = (dir: Folder, step: number, prompt: string[], scores: number[]): Promise<string> =>
  dir.write(
    `rollout_dump_data.step_${step}.jsonl`,
    jsonLines([
      {
        id: prompt,
        prompt,
        responses: prompt.map(() => 'text'),
        scores,
        global_step: prompt.map(() => step),
      },
    ]),
  );

test('columns in one line are a step, blocks of one prompt its groups', async () => {
  await using dir = await folder();
  const file = await write(dir, 3, [...'aabb'], [1, 0, 0, 0]);
  assert.equal(await adapterFor(file), ROLL);
  const [step] = await stepsOf(ROLL, [file]);
  assert.deepEqual(
    [step!.name, [...step!.group.ids], [...step!.reward], step!.findings],
    ['step 3', [0, 0, 1, 1], [1, 0, 0, 0], []],
  );
});

test('the report says what the advantages should be, and that none are verified', async () => {
  await using dir = await folder();
  const file = await write(dir, 1, [...'aaaa'], [1, 0, 0, 0]);
  const [report] = await Array.fromAsync(verifyDump(ROLL, [file]));
  assert.deepEqual([report!.ok, report!.consistent, report!.configuration.origin], [false, true, 'default']);
  assert.deepEqual(
    report!.example!.advantages.map((a) => Number(a.toFixed(3))),
    [1.5, -0.5, -0.5, -0.5],
  );
});

test('columns of unequal length are refused', async () => {
  await using dir = await folder();
  const file = await write(dir, 1, [...'aa'], [1]);
  await assert.rejects(stepsOf(ROLL, [file]), /line 1: expected lists prompt and scores of one length/);
});
