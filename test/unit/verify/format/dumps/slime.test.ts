import assert from 'node:assert/strict';
import { test } from 'node:test';
import { adapterFor } from '../../../../../src/verify/format/dumps/registry.ts';
import { SLIME } from '../../../../../src/verify/format/dumps/slime.ts';
import { verifyDump } from '../../../../../src/verify/verify-dump.ts';
import { DUMPS, planted, stepsOf } from '../../../../support/dump-files.ts';

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
