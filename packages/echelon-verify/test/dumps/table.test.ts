import assert from 'node:assert/strict';
import { test } from 'node:test';
import { adapterFor } from '../../src/dumps/registry.ts';
import { KNOWN_TABLES, TABLE } from '../../src/dumps/table.ts';
import { verifyDump } from '../../src/verify/verify-dump.ts';
import { DUMPS, folder, jsonLines, stepsOf } from '../support/dump-files.ts';

const CSV = 'it,prompt,score,adv\n1,a,0,-1\n1,a,1,1\n2,a,0,0\n2,b,0,0\n';
const MAP = { group: 'prompt', reward: 'score', advantage: 'adv', step: 'it' };

test('a mapped table has a step for each value of its step column', async () => {
  await using dir = await folder();
  const steps = await stepsOf(TABLE, [await dir.write('a.csv', CSV)], { map: MAP });
  assert.deepEqual(
    steps.map(({ name, group, reward, advantage }) => [name, group.names, [...reward], [...advantage!]]),
    [
      ['step 1', ['a'], [0, 1], [-1, 1]],
      ['step 2', ['a', 'b'], [0, 0], [0, 0]],
    ],
  );
});

test('without a step column a file is a step, without a group column blocks are groups', async () => {
  await using dir = await folder();
  const files = [await dir.write('a.csv', 'reward\n1\n0\n1\n0\n'), await dir.write('b.csv', 'reward\n1\n')];
  const steps = await stepsOf(TABLE, files, { groupSize: 2 });
  assert.deepEqual(
    steps.map(({ name, group, advantage, findings }) => [
      name,
      [...group.ids],
      advantage,
      findings.map(({ code }) => code),
    ]),
    [
      ['a.csv', [0, 0, 1, 1], undefined, []],
      ['b.csv', [0], undefined, ['block-partial']],
    ],
  );
  const [unknown] = await stepsOf(TABLE, files);
  assert.deepEqual(
    unknown!.findings.map(({ code }) => code),
    ['group-size-unknown'],
  );
});

test('a reward that is no number is refused with its row, NaN is a reward', async () => {
  await using dir = await folder();
  const bad = await dir.write('bad.csv', 'group,reward\na,1\na,high\n');
  await assert.rejects(stepsOf(TABLE, [bad]), /row 1, reward: expected a number, found "high"/);
  const nan = await dir.write('nan.jsonl', jsonLines([{ group: 1, reward: Number.NaN }]));
  assert.deepEqual([...(await stepsOf(TABLE, [nan]))[0]!.reward], [Number.NaN]);
});

test('a row without an advantage is unverifiable, and the others are judged', async () => {
  await using dir = await folder();
  const text = 'group,reward,advantage\na,1,0.5\na,0,\na,1,0.5\na,0,-0.5\n';
  const path = await dir.write('a.csv', text);
  const stated = { estimator: 'grpo', params: { normalizeByStd: false } } as const;
  const [right] = await Array.fromAsync(verifyDump(TABLE, [path], stated));
  assert.deepEqual([right!.exact, right!.unverifiable, right!.consistent, right!.ok], [3, 1, true, false]);
  assert.match(right!.findings[0]!.message, /No advantage in 1 row \(row 1\)/);
  const faulty = await dir.write('b.csv', text.replace('-0.5', '0.5'));
  const [wrong] = await Array.fromAsync(verifyDump(TABLE, [faulty], stated));
  assert.deepEqual([wrong!.wrong, wrong!.wrongRows, wrong!.consistent], [1, [3], false]);
});

test('an advantage of another type is refused with its row, NaN is an advantage', async () => {
  await using dir = await folder();
  const rows = (advantage: unknown) => jsonLines([1, 0].map((reward) => ({ group: 1, reward, advantage })));
  const stated = { estimator: 'grpo', params: { normalizeByStd: false } } as const;
  for (const [advantage, shown] of [
    ['0.5', '"0.5"'],
    [[0.5], '[0.5]'],
  ]) {
    const path = await dir.write('a.jsonl', rows(advantage));
    await assert.rejects(stepsOf(TABLE, [path]), (error: Error) =>
      error.message.includes(`row 0, advantage: expected a number, found ${shown}`),
    );
  }
  const path = await dir.write('nan.jsonl', rows(Number.NaN));
  const [report] = await Array.fromAsync(verifyDump(TABLE, [path], stated));
  assert.deepEqual([report!.wrong, report!.unverifiable], [2, 0]);
});

test('NaN is evidence for no formula, and an error where every reward is finite', async () => {
  await using dir = await folder();
  const rows = [1, 0, 0, 1].map((reward) => ({ group: 1, reward, advantage: Number.NaN }));
  const [report] = await Array.fromAsync(verifyDump(TABLE, [await dir.write('a.jsonl', jsonLines(rows))]));
  assert.deepEqual([report!.configuration.origin, report!.consistent], ['unknown', false]);
  assert.equal(report!.findings[0]!.code, 'advantage-non-finite');
});

test('a row without a reward leaves its step unverified, unless the estimator says what it counts as', async () => {
  await using dir = await folder();
  const path = await dir.write('a.csv', 'group,reward,advantage\na,1,0.5\na,,0\na,0,-0.5\n');
  const verified = async (missing: 'propagate' | 'exclude') => {
    const params = { normalizeByStd: false, missing };
    const [report] = await Array.fromAsync(verifyDump(TABLE, [path], { estimator: 'grpo', params }));
    return [report!.exact, report!.unverifiable, report!.consistent, report!.findings[0]?.code];
  };
  assert.deepEqual(await verified('propagate'), [0, 3, true, 'rewards-missing']);
  assert.deepEqual(await verified('exclude'), [3, 0, false, 'rows-unscorable']);
});

test('the tables of tinker-cookbook and AReaL (synthetic) are recognised and read', async () => {
  await using dir = await folder();
  const tinker = [0, 1].map((traj_idx) => ({
    ...{ schema_version: 1, split: 'train', iteration: 4, group_idx: 0, traj_idx },
    ...{ total_reward: traj_idx, steps: [{ reward: 1 }] },
  }));
  const path = await dir.write('train_rollout_summaries.jsonl', jsonLines(tinker));
  const adapter = await adapterFor(path);
  assert.equal(adapter !== 'native' && adapter?.name, 'tinker-cookbook');
  const [step] = await stepsOf(KNOWN_TABLES[0]!, [path]);
  assert.deepEqual([step!.name, [...step!.reward], step!.trajectory!.names.length], ['step 4', [0, 1], 2]);
  const starts = tinker.map((one, at) => ({ ...one, steps: [{ ob_len: 12 + at, reward: 1 }] }));
  const [mixed] = await stepsOf(KNOWN_TABLES[0]!, [
    await dir.write('train_rollout_summaries.jsonl', jsonLines(starts)),
  ]);
  assert.deepEqual([step!.findings, mixed!.findings.map(({ code }) => code)], [[], ['block-mixed']]);
  const areal = (task_id: number) =>
    jsonLines(
      [0, 1].map((sample_idx) => ({
        task_id,
        sample_idx,
        head_version: 3,
        tail_version: 3,
        reward: sample_idx,
      })),
    );
  const files = [await dir.write('7.jsonl', areal(7)), await dir.write('8.jsonl', areal(8))];
  const found = await adapterFor(files[0]!);
  assert.equal(found !== 'native' && found?.name, 'areal');
  const steps = await stepsOf(KNOWN_TABLES.find(({ name }) => name === 'areal')!, files);
  assert.deepEqual(
    steps.map(({ group }) => group.names),
    [['7', '8']],
  );
});

test('what verl 0.9.1 computes is right by the stated estimator, and inferred to be it', async () => {
  const map = { group: 'uid', reward: 'score', step: 'step', advantage: 'advantage' };
  for (const [file, stated, expected] of [
    ['grpo', { estimator: 'grpo' }, /^grpo\(std=sample,eps=1e-6/],
    ['grpo-unscaled', { estimator: 'grpo', params: { normalizeByStd: false } }, /^grpo\(std=none/],
    ['rloo', { estimator: 'rloo' }, /^rloo/],
    ['grpo-passk', { estimator: 'grpo_passk' }, /^grpo_passk/],
  ] as const) {
    const files = [`${DUMPS}/verl/${file}.csv`];
    for (const report of await Array.fromAsync(verifyDump(TABLE, files, { map, ...stated })))
      assert.deepEqual([report.ok, report.wrong], [true, 0], `${file} ${report.name}`);
    const [inferred] = await Array.fromAsync(verifyDump(TABLE, files, { map }));
    assert.match(inferred!.configuration.fingerprint!, expected);
    assert.deepEqual([inferred!.ok, inferred!.consistent], [false, true]);
  }
});

test('a trajectory that a table of one row for each holds twice is an error', async () => {
  await using dir = await folder();
  const rows = [0, 1, 1].map((traj_idx) => ({
    iteration: 1,
    group_idx: 0,
    traj_idx,
    total_reward: traj_idx,
  }));
  const path = await dir.write('train_rollout_summaries.jsonl', jsonLines(rows));
  const [step] = await stepsOf(KNOWN_TABLES[0]!, [path]);
  assert.deepEqual(
    step!.findings.map(({ code, rows: own }) => [code, own]),
    [['row-duplicated', [2]]],
  );
});
