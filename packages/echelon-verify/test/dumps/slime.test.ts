import assert from 'node:assert/strict';
import { test } from 'node:test';
import { adapterFor } from '../../src/dumps/registry.ts';
import { SLIME } from '../../src/dumps/slime.ts';
import { verifyDump } from '../../src/verify/verify-dump.ts';
import { DUMPS, folder, planted, stepsOf } from '../support/dump-files.ts';
import { tokenBatch } from '../support/token-batch.ts';
import { pickled, torchFile } from '../support/torch-bytes.ts';

// Synthetic: see test/golden/dumps/README.md.
const ROLLOUTS = [0, 1].map((step) => `${DUMPS}/slime/rollout_data/${step}.pt`);
const TRAININGS = [0, 1].map((step) => `${DUMPS}/slime/train_data/${step}_0.pt`);

test('groups and rewards of the rollout meet advantages of the training', async () => {
  assert.equal(await adapterFor(ROLLOUTS[0]!), SLIME);
  const steps = await stepsOf(SLIME, [...ROLLOUTS, ...TRAININGS]);
  assert.deepEqual(
    steps.map(({ name, group, advantage }) => [name, group.names, advantage?.length]),
    [
      ['step 0', ['group 0', 'group 1', 'group 2'], 12],
      ['step 1', ['group 3', 'group 4', 'group 5'], 12],
    ],
  );
  for (const report of await Array.fromAsync(
    verifyDump(SLIME, [...ROLLOUTS, ...TRAININGS], { estimator: 'grpo' }),
  ))
    assert.deepEqual([report.ok, report.wrong], [true, 0]);
});

test('a rollout alone has no advantages, a training alone has no groups', async () => {
  const [rollout] = await stepsOf(SLIME, ROLLOUTS);
  assert.deepEqual([rollout!.advantage, rollout!.findings], [undefined, []]);
  const [training] = await stepsOf(SLIME, TRAININGS);
  assert.deepEqual(
    training!.findings.map(({ code }) => code),
    ['group-size-unknown'],
  );
  const [stated] = await stepsOf(SLIME, TRAININGS, { groupSize: 4 });
  assert.deepEqual([[...stated!.group.ids].join(''), stated!.findings], ['000011112222', []]);
});

test('another deviation and a clipped advantage are found', async () => {
  for (const change of [(a: number) => (a * Math.sqrt(4 / 3)) as number, (a: number) => Math.min(a, 0.9)]) {
    const faulty = planted(SLIME, (step) => ({ ...step, advantage: step.advantage!.map(change) }));
    const [report] = await Array.fromAsync(
      verifyDump(faulty, [...ROLLOUTS, ...TRAININGS], { estimator: 'grpo' }),
    );
    assert.ok(report!.wrong > 0);
  }
});

test('a torch file of something else is refused', async () => {
  await assert.rejects(stepsOf(SLIME, [`${DUMPS}/tensors.pt`]), /expected a dictionary with samples/);
});

/** Golden values of slime's own function in the layout of its dumps (synthetic). */
function tokenDump(name: string, kl = 0): Buffer {
  const { tokens, rows } = tokenBatch(name);
  const { offset, mask, reward, value, reportedAdvantage } = tokens!;
  const floats = (column: Float64Array, row: number) =>
    pickled.list(...Array.from(column.subarray(offset[row]!, offset[row + 1]!), pickled.float));
  const samples = Array.from({ length: rows }, (_, row) =>
    pickled.dict({
      rollout_position: pickled.int(row),
      group_index: pickled.int(0),
      rewards: pickled.float(reward![offset[row + 1]! - 1]!),
      loss_masks: pickled.list(...Array.from(mask!.subarray(offset[row]!, offset[row + 1]!), pickled.int)),
      advantages: floats(reportedAdvantage!, row),
      values: floats(value!, row),
      kl: floats(
        reward!.map(() => kl),
        row,
      ),
    }),
  );
  const raw = pickled.list(...Array.from({ length: rows }, () => pickled.float(1)));
  return torchFile(
    pickled.dict({ rollout_id: pickled.int(3), samples: pickled.list(...samples), raw_reward: raw }),
  );
}

test('advantages of tokens are verified by the tokens, values and rewards of the samples', async () => {
  await using dir = await folder();
  const verified = async (bytes: Buffer, params: Record<string, number> = {}) => {
    const path = await dir.write('3_0.pt', bytes);
    const stated = {
      estimator: 'gae',
      params: { maskedTokens: 'include', normalizeByStd: false, recentre: false, ...params },
    };
    return (await Array.fromAsync(verifyDump(SLIME, [path], stated as never)))[0]!;
  };
  const right = await verified(tokenDump('slime/ppo, outcome'));
  assert.deepEqual([right.ok, right.exact, right.wrong], [true, 6, 0]);
  const wrong = await verified(tokenDump('slime/ppo, outcome'), { lambda: 0.9 });
  assert.ok(wrong.wrong > 0);
  // The factor of a KL term is not in the dump.
  const unknown = await verified(tokenDump('slime/ppo, outcome', 0.1));
  assert.deepEqual([unknown.unverifiable, unknown.wrong], [6, 0]);
  assert.ok(unknown.findings.some(({ message }) => message.includes('tokens.reward')));
});

test('an estimator over tokens is inferred', async () => {
  await using dir = await folder();
  const path = await dir.write('3_0.pt', tokenDump('slime/ppo-0.95, outcome'));
  const [report] = await Array.fromAsync(verifyDump(SLIME, [path]));
  assert.deepEqual([report!.configuration.origin, report!.ok, report!.consistent], ['inferred', false, true]);
  assert.match(report!.fingerprint, /^gae\(discount=1,lambda=0\.95,masked=include/);
});

/** A training dump of samples at positions, with their advantages. */
function trainingDump(samples: readonly { position: number; index?: number; advantage: number }[]): Buffer {
  const { dict, list, int, float } = pickled;
  const dicts = samples.map(({ position, index, advantage }) =>
    dict({
      rollout_position: int(position),
      ...(index === undefined ? {} : { sample_index: int(index) }),
      advantages: list(float(advantage)),
      loss_masks: list(int(1)),
    }),
  );
  return torchFile(dict({ rollout_id: int(3), samples: list(...dicts) }));
}

test('two samples of one file in one place are refused, and so are two ranks that disagree', async () => {
  await using dir = await folder();
  const rows = [
    { position: 0, advantage: 1 },
    { position: 1, advantage: -1 },
  ];
  const twice = await dir.write('3_0.pt', trainingDump([...rows, { position: 1, advantage: 0.5 }]));
  await assert.rejects(stepsOf(SLIME, [twice]), /rollout_position 1.*a second sample in its place/);
  const first = await dir.write('3_0.pt', trainingDump(rows));
  const same = await dir.write('3_1.pt', trainingDump(rows));
  const [step] = await stepsOf(SLIME, [first, same]);
  assert.deepEqual([...step!.advantage!], [1, -1]);
  const other = await dir.write('3_2.pt', trainingDump([{ position: 1, advantage: 0.5 }]));
  await assert.rejects(stepsOf(SLIME, [first, other]), /another advantage in another file/);
});

test('samples of one rollout with different advantages are not counted as one', async () => {
  await using dir = await folder();
  const { dict, list, int, float } = pickled;
  const samples = [0, 1, 1, 2].map((index) =>
    dict({ group_index: int(0), index: int(index), reward: float(index === 0 ? 1 : 0) }),
  );
  const rollout = await dir.write('3.pt', torchFile(dict({ rollout_id: int(3), samples: list(...samples) })));
  const rows = [1.5, -0.5, -0.5, -0.5].map((advantage, position) => ({ position, advantage }));
  const agreeing = await dir.write('3_0.pt', trainingDump(rows));
  const [step] = await stepsOf(SLIME, [rollout, agreeing]);
  assert.deepEqual([step!.reward.length, step!.rowsInDump, step!.otherReadings?.length], [3, 4, 1]);
  const differing = await dir.write('3_0.pt', trainingDump(rows.with(2, { position: 2, advantage: 0.5 })));
  const [other] = await stepsOf(SLIME, [rollout, differing]);
  assert.deepEqual([other!.reward.length, other!.otherReadings], [4, undefined]);
});
