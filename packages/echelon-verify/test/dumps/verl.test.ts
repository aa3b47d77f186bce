import assert from 'node:assert/strict';
import { test } from 'node:test';
import { VERL } from '../../src/dumps/verl.ts';
import { verifyDump } from '../../src/verify/verify-dump.ts';
import { folder, jsonLines, stepsOf } from '../support/dump-files.ts';

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

for (const [algorithm, expected] of [
  ['adv_estimator: grpo, norm_adv_by_std_in_grpo: false', [0.75, -0.25]],
  // The vectorised function divides whatever the setting says.
  ['adv_estimator: grpo_vectorized, norm_adv_by_std_in_grpo: false', [1.5, -0.5]],
  ['adv_estimator: grpo_passk, norm_adv_by_std_in_grpo: true', [2, 0]],
  ['adv_estimator: grpo_passk, norm_adv_by_std_in_grpo: false', [1, 0]],
  ['adv_estimator: rloo', [1, -0.3333]],
  // It needs the lengths of the responses, which the dump does not have.
  ['adv_estimator: opo', undefined],
] as const)
  test(`config.yaml states the values that are due: ${algorithm}`, async () => {
    const report = await reportBeside(algorithm);
    assert.deepEqual([report.ok, report.wrong, report.configuration.origin], [false, 0, 'found']);
    const values = report.example?.advantages.slice(0, 2).map((a) => Number(a.toFixed(4)));
    assert.deepEqual(values, expected);
  });

for (const [algorithm, reason] of [
  ['adv_estimator: gae', /adv_estimator=gae/],
  ['adv_estimator: rloo, use_kl_in_reward: true', /use_kl_in_reward=true/],
  ['adv_estimator: reinforce_plus_plus, gamma: 0.9', /gamma=0.9/],
] as const)
  test(`a setting without a known form is unknown: ${algorithm}`, async () => {
    const { ok, consistent, wrong, configuration } = await reportBeside(algorithm);
    assert.deepEqual([ok, consistent, wrong, configuration.origin], [false, false, 0, 'unknown']);
    assert.match(configuration.reason!, reason);
  });

async function reportBeside(algorithm: string) {
  await using dir = await folder();
  const rows = [1, 0, 0, 0].map((score, i) => row(`a_${i}_0`, score));
  await dir.write('config.yaml', `algorithm: {${algorithm}}`);
  const [report] = await Array.fromAsync(verifyDump(VERL, [await dir.write('7.jsonl', jsonLines(rows))]));
  return report!;
}

test('a uid that occurs twice in a step is an error', async () => {
  await using dir = await folder();
  const path = await dir.write(
    '7.jsonl',
    jsonLines(['a_0_0', 'a_1_0', 'a_0_0'].map((uid, i) => row(uid, i))),
  );
  const [step] = await stepsOf(VERL, [path]);
  assert.deepEqual(
    step!.findings.map(({ code, severity }) => [code, severity]),
    [['row-duplicated', 'error']],
  );
});
