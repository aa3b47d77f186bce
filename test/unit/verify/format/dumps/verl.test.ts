import assert from 'node:assert/strict';
import { test } from 'node:test';
import { VERL } from '../../../../../src/verify/format/dumps/verl.ts';
import { verifyDump } from '../../../../../src/verify/verify-dump.ts';
import { folder, jsonLines, stepsOf } from '../../../../support/dump-files.ts';

const row = (uid: string | undefined, score: number, input = 'q') => ({
  ...{ input, output: 'text', gts: null, score, step: 7 },
  ...(uid === undefined ? {} : { uid }),
});

test('only the last output of a session counts, and its prompt is the group', async () => {
  await using dir = await folder();
  const uids = ['a_b_0_0', 'a_b_0_10', 'a_b_0_9', 'a_b_1_0', 'c_0_0'];
  const path = await dir.write('7.jsonl', jsonLines(uids.map((uid, i) => row(uid, i))));
  const [step] = await stepsOf(VERL, [path]);
  assert.deepEqual(
    [step!.name, step!.group.names, [...step!.group.ids]],
    ['step 7', ['a_b', 'c'], [0, 0, 1]],
  );
  assert.deepEqual([...step!.reward], [1, 3, 4]);
});

test('without uids equal inputs are a group', async () => {
  await using dir = await folder();
  const rows = [row(undefined, 1), row(undefined, 0), row(undefined, 1, 'other')];
  const [step] = await stepsOf(VERL, [await dir.write('7.jsonl', jsonLines(rows))]);
  assert.deepEqual(
    [step!.group.names, [...step!.group.ids]],
    [
      ['q', 'other'],
      [0, 0, 1],
    ],
  );
});

test('without advantages nothing is verified, and the report says what they should be', async () => {
  await using dir = await folder();
  const rows = [1, 0, 0, 0].map((score, i) => row(`a_${i}_0`, score));
  const [report] = await Array.fromAsync(verifyDump(VERL, [await dir.write('7.jsonl', jsonLines(rows))]));
  assert.deepEqual([report!.ok, report!.consistent, report!.unverifiable], [false, true, 4]);
  assert.equal(report!.configuration.origin, 'default');
  assert.deepEqual(
    report!.example?.advantages.map((a) => Number(a.toFixed(4))),
    [1.5, -0.5, -0.5, -0.5],
  );
});
