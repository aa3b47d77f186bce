import assert from 'node:assert/strict';
import { test } from 'node:test';
import { NEMO_RL } from '../../src/dumps/nemo-rl.ts';
import { adapterFor } from '../../src/dumps/registry.ts';
import { verifyDump } from '../../src/verify/verify-dump.ts';
import { folder, jsonLines, planted, stepsOf } from '../support/dump-files.ts';

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

const LEAVE_ONE_OUT = 'normalize_rewards: false, use_leave_one_out_baseline: true';

/** The report of a dump beside a config.yaml. */
async function reportBeside(config: string) {
  await using dir = await folder();
  const rows = [1, -1, 0, 0].map((advantage, i) =>
    row(i, i < 2 ? [1, 2] : [1, 3], i === 1 ? 0 : 1, advantage),
  );
  const path = await dir.write('train_data_step1.jsonl', jsonLines(rows));
  await dir.write('config.yaml', config);
  const [report] = await Array.fromAsync(verifyDump(NEMO_RL, [path]));
  return report!;
}

test('the estimator is found in config.yaml, in its own section or in the older one', async () => {
  for (const config of [
    `grpo: {adv_estimator: {name: grpo, ${LEAVE_ONE_OUT}}}`,
    `grpo: {${LEAVE_ONE_OUT}}`,
  ]) {
    const { ok, wrong, configuration } = await reportBeside(config);
    assert.deepEqual([ok, wrong, configuration.origin], [true, 0, 'found']);
    assert.match(configuration.file!, /config\.yaml$/);
    assert.match(configuration.fingerprint!, /^rloo/);
  }
});

for (const [name, config, reason] of [
  ['an unknown estimator', 'grpo: {adv_estimator: {name: opd}}', /name=opd/],
  ['clipped advantages', `grpo: {${LEAVE_ONE_OUT}, advantage_clip_high: 5}`, /advantage_clip_high=5/],
  [
    'two places that contradict',
    `grpo: {normalize_rewards: true, adv_estimator: {name: grpo, ${LEAVE_ONE_OUT}}}`,
    /grpo\.normalize_rewards=true/,
  ],
  [
    'a reference to another value',
    `grpo: {adv_estimator: {name: grpo, normalize_rewards: "\${a}", use_leave_one_out_baseline: true}}`,
    /\$\{a\}/,
  ],
  [
    'KL in the reward',
    'grpo: {adv_estimator: {name: reinforce_plus_plus, minus_baseline: true}}\nloss_fn: {use_kl_in_reward: true}',
    /use_kl_in_reward/,
  ],
] as const)
  test(`a config.yaml with ${name} leaves the rows unverifiable, with a remedy`, async () => {
    const { ok, consistent, wrong, unverifiable, configuration, findings } = await reportBeside(config);
    assert.deepEqual([ok, consistent, wrong, unverifiable], [false, false, 0, 4]);
    assert.match(configuration.reason!, reason);
    assert.match(findings[0]!.message, /State it with --estimator/);
  });

test('a config.yaml that does not state the estimator leaves it to be inferred', async () => {
  const { ok, consistent, configuration } = await reportBeside(
    'defaults: base.yaml\ngrpo: {normalize_rewards: false}',
  );
  assert.deepEqual([ok, consistent, configuration.origin], [false, true, 'inferred']);
});

test('published settings without leave-one-out, and without a baseline, are verified by config.yaml', async () => {
  for (const setting of ['grpo-divided-all', 'grpo-centred-all', 'reinforce-raw']) {
    const path = `test/golden/dumps/nemo-rl-settings/${setting}/train_data_step1.jsonl`;
    const [whole] = await Array.fromAsync(verifyDump(NEMO_RL, [path]));
    assert.deepEqual([whole!.ok, whole!.wrong, whole!.configuration.origin], [true, 0, 'found'], setting);
    const cut = planted(NEMO_RL, (step) => ({ ...step, rowsInDump: step.reward.length - 4 }));
    const [lost] = await Array.fromAsync(verifyDump(cut, [path]));
    assert.ok(lost!.findings.some(({ code }) => code === 'rows-missing'));
  }
});

test('a response without a trained token stays in the group of its prompt', async () => {
  const masked = { ...row(1, [1, 2], 0, -0.5), token_loss_mask: [[0, 0, 0, 0]] };
  await using file = await write([ROWS[0], masked, ROWS[2], ROWS[3]]);
  const [step] = await stepsOf(NEMO_RL, [file.path]);
  assert.deepEqual(
    [[...step!.group.ids], [...step!.responseLength!]],
    [
      [0, 0, 1, 1],
      [2, 0, 2, 2],
    ],
  );
  // Nothing says which of its tokens' advantages is that of the response, unless all are equal.
  assert.deepEqual([...step!.unreported!], [0, 1, 0, 0]);
  const constant = { ...masked, advantages: [[-0.5, -0.5, -0.5, -0.5]] };
  await using other = await write([ROWS[0], constant, ROWS[2], ROWS[3]]);
  const [equal] = await stepsOf(NEMO_RL, [other.path]);
  assert.deepEqual([[...equal!.advantage!], equal!.unreported], [[0.5, -0.5, 0, 0], undefined]);
});

test('responses of which none to their prompt has a trained token are not verified', async () => {
  const masked = [row(2, [1, 3], 1, 0.5), row(3, [1, 3], 0, -0.5)].map((own) => ({
    ...own,
    token_loss_mask: [[0, 0, 0, 0]],
  }));
  await using file = await write([ROWS[0], ROWS[1], ...masked]);
  const [step] = await stepsOf(NEMO_RL, [file.path]);
  assert.deepEqual([step!.reward.length, step!.rowsInDump], [2, 4]);
  assert.deepEqual(
    step!.findings.map(({ code }) => code),
    ['groups-untrained'],
  );
});

test('a filtered reward that is not the reward, and responses that failed, are findings', async () => {
  const codes = async (rows: readonly unknown[]) => {
    await using file = await write(rows);
    const [step] = await stepsOf(NEMO_RL, [file.path]);
    return step!.findings.map(({ code }) => code);
  };
  assert.deepEqual(await codes(ROWS.map((one) => ({ ...one, filtered_rewards: one.rewards }))), []);
  assert.deepEqual(await codes(ROWS.map((one) => ({ ...one, filtered_rewards: [0.25] }))), [
    'rewards-filtered',
  ]);
  const failed = (idx: number) => ({ ...row(idx, [1, 2], 0, 0), token_loss_mask: [[0, 0, 0, 0]] });
  assert.deepEqual(await codes([...ROWS, failed(4), failed(5)]), ['rollouts-failed']);
  assert.deepEqual(await codes([...ROWS, failed(4)]), []);
});
