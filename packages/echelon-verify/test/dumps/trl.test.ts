import assert from 'node:assert/strict';
import { readdirSync } from 'node:fs';
import { describe, test } from 'node:test';
import { TRL } from '../../src/dumps/trl.ts';
import { type StatedDump, verifyDump } from '../../src/verify/verify-dump.ts';
import { DUMPS, stepsOf } from '../support/dump-files.ts';

const filesOf = (run: string): string[] =>
  [1, 2, 3].map((step) => `${DUMPS}/trl/${run}/completions/completions_0000${step}.parquet`);
const verified = (run: string, stated: StatedDump = {}) =>
  Array.fromAsync(verifyDump(TRL, filesOf(run), stated));

describe('what GRPOTrainer of TRL 1.16 wrote', () => {
  test('no row of any run is wrong, and every step of the training is verified by its training_args.bin', async () => {
    for (const run of readdirSync(`${DUMPS}/trl`)) {
      for (const { wrong, ok, name, configuration } of await verified(run)) {
        const isEvaluation = run === 'evaluated' && name === 'step 2';
        assert.deepEqual([wrong, ok, configuration.origin], [0, !isEvaluation, 'found'], `${run} ${name}`);
      }
    }
  });

  test('rewards are weighted sums, and groups are blocks of num_generations', async () => {
    const [step] = await stepsOf(TRL, filesOf('weights'), { weights: [1, 0.3, 0.25] });
    assert.deepEqual([step!.name, step!.trainingStep], ['step 1', 1]);
    assert.deepEqual([...step!.group.ids], [0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3]);
  });

  test('other weights than the trainer had make rows wrong', async () => {
    const reports = await verified('weights', { weights: [1, 1, 1] });
    assert.ok(reports.every(({ wrong }) => wrong > 0));
  });

  test('a logged reward that the weights do not give is a finding, at the step whose means were logged', async () => {
    const weights = [1, 0.3, 0.25];
    const [step] = await stepsOf(TRL, filesOf('weights'), { weights });
    const mean = (values: Float64Array) => values.reduce((sum, one) => sum + one / values.length, 0);
    const means = new Map(step!.rewards!.map(({ name, value }) => [name, mean(value)]));
    const codes = async (reward: number, logged = means) => {
      const options = { weights, logged: new Map([[1, { reward, means: logged }]]) };
      const [own] = await stepsOf(TRL, filesOf('weights'), options);
      return own!.findings.flatMap(({ code }) => (code === 'rewards-logged' ? [code] : []));
    };
    const total = mean(step!.reward);
    assert.deepEqual(await codes(total), []);
    assert.deepEqual(await codes([...means.values()].reduce((a, b) => a + b)), ['rewards-logged']);
    // The log is of other rows.
    const others = new Map([...means].map(([name, value]) => [name, value + 1]));
    assert.deepEqual(await codes(total + 1, others), []);
  });

  test('the caller names the reward columns', async () => {
    const [step] = await stepsOf(TRL, filesOf('weights'), { rewards: ['constant'] });
    assert.ok(step!.reward.every((reward) => reward === Math.fround(0.7)));
    await assert.rejects(stepsOf(TRL, filesOf('weights'), { rewards: ['nope'] }), /expected a column "nope"/);
  });

  test('rows that no function scored are reported', async () => {
    const [report] = await verified('unscorable');
    assert.deepEqual([report!.rows, report!.exact], [16, 16]);
    assert.ok(report!.findings.some(({ code }) => code === 'rows-unscorable'));
  });

  test('the step at which the trainer evaluated has a warning', async () => {
    const reports = await verified('evaluated');
    const warned = reports.filter(({ findings }) => findings.some(({ code }) => code === 'evaluation-rows'));
    assert.deepEqual(
      warned.map(({ name }) => name),
      ['step 2'],
    );
  });

  test('a block size that the prompts contradict is an error', async () => {
    const [report] = await verified('group', { groupSize: 8 });
    assert.equal(report!.ok, false);
    assert.ok(report!.findings.some(({ code }) => code === 'block-mixed'));
  });
});
