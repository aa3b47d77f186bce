import assert from 'node:assert/strict';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import type { FoundConfiguration } from '../../src/dumps/adapter.ts';
import { adapterOf } from '../../src/dumps/registry.ts';
import { findSlimeConfig } from '../../src/dumps/slime-config.ts';
import { verifyDump } from '../../src/verify/verify-dump.ts';
import { DUMPS, folder } from '../support/dump-files.ts';
import { pickled, torchFile } from '../support/torch-bytes.ts';

/** What is found of arguments in JSON: the fingerprint's beginning, or the reason why it is unknown. */
async function foundOf(settings: object): Promise<string | undefined> {
  await using dir = await folder();
  await dir.write('args.json', JSON.stringify({ n_samples_per_prompt: 4, ...settings }));
  const found = await findSlimeConfig([dir.path]);
  if (found === undefined || 'unreadable' in found.estimator) return undefined;
  return 'name' in found.estimator ? found.estimator.name : found.estimator.unsupported;
}

test('published settings have their form, and others are named', async () => {
  assert.equal(await foundOf({}), 'grpo');
  assert.equal(await foundOf({ advantage_estimator: 'gspo', grpo_std_normalization: false }), 'grpo');
  assert.equal(await foundOf({ advantage_estimator: 'ppo', lambd: 0.95 }), 'gae');
  assert.equal(
    await foundOf({ advantage_estimator: 'reinforce_plus_plus_baseline', normalize_advantages: true }),
    'reinforce_plus_plus',
  );
  assert.equal(
    await foundOf({ advantage_estimator: 'reinforce_plus_plus', gamma: 0.9 }),
    'advantage_estimator=reinforce_plus_plus, gamma=0.9',
  );
  assert.match((await foundOf({ use_opd: true }))!, /use_opd=true/);
});

test('the script that starts the run tells the arguments, without its comments and variables', async () => {
  await using dir = await folder();
  const script = `# --advantage-estimator ppo
ARGS=(--advantage-estimator grpo --n-samples-per-prompt 8 --rollout-batch-size $GROUPS
  --disable-grpo-std-normalization)`;
  const path = await dir.write('run.sh', script);
  const found = await findSlimeConfig([join(dir.path, 'none'), dir.path]);
  assert.deepEqual([found?.file, found?.options], [path, { groupSize: 8 }]);
  assert.ok(found !== undefined && 'params' in found.estimator);
  assert.equal('normalizeByStd' in found.estimator.params && found.estimator.params.normalizeByStd, false);
});

test('scripts that state different settings, and a variable that decides the estimator, tell none', async () => {
  await using dir = await folder();
  const first = await dir.write('a.sh', 'ARGS=(--advantage-estimator grpo --n-samples-per-prompt 8)');
  await dir.write('b.sh', 'ARGS=(--advantage-estimator grpo --n-samples-per-prompt 8)');
  await dir.write('env.sh', 'export NAME=run');
  assert.equal((await findSlimeConfig([dir.path]))?.file, first);
  await dir.write('b.sh', 'ARGS=(--advantage-estimator ppo --n-samples-per-prompt 8)');
  const differing = await findSlimeConfig([dir.path]);
  assert.deepEqual(differing?.options, {});
  assert.match(unreadableOf(differing), /b\.sh states other settings/);
  await using open = await folder();
  await open.write('a.sh', 'ARGS=(--advantage-estimator $NAME --n-samples-per-prompt 8)');
  assert.match(unreadableOf(await findSlimeConfig([open.path])), /advantage_estimator is a variable/);
});

function unreadableOf(found: FoundConfiguration | undefined): string {
  return found !== undefined && 'unreadable' in found.estimator ? found.estimator.unreadable : 'none';
}

test('a checkpoint of Megatron holds the arguments', async () => {
  await using dir = await folder();
  await mkdir(join(dir.path, 'iter_0000010'));
  const settings = pickled.dict({
    n_samples_per_prompt: pickled.int(4),
    rollout_batch_size: pickled.int(3),
  });
  const args = Buffer.concat([
    pickled.call(pickled.global('argparse', 'Namespace')),
    settings,
    Buffer.from('b'),
  ]);
  await dir.write('iter_0000010/common.pt', torchFile(pickled.dict({ args })));
  const found = await findSlimeConfig([dir.path]);
  assert.deepEqual(found?.options, { groupSize: 4, blockRows: 12 });
});

test('a rollout that is uneven by its arguments, or by its groups, is one group', async () => {
  for (const setting of ['uneven', 'fewer-groups', 'even']) {
    const run = `${DUMPS}/slime-settings/${setting}`;
    const files = ['rollout_data/1.pt', 'rollout_data/eval_1.pt', 'train_data/1.pt'];
    const reports = await Array.fromAsync(
      verifyDump(
        adapterOf('slime'),
        files.map((file) => join(run, file)),
      ),
    );
    const uneven = setting === 'even' ? [] : ['rollout-uneven'];
    assert.deepEqual(
      reports.map(({ ok, consistent, wrong }) => [ok, consistent, wrong]),
      [
        [false, true, 0],
        [true, false, 0],
      ],
      setting,
    );
    assert.deepEqual(
      reports[1]!.findings.map(({ code }) => code).filter((code) => code === 'rollout-uneven'),
      uneven,
    );
  }
});

test('a KL coefficient that the estimator does not use is named', async () => {
  const idle = async (settings: object) => {
    await using dir = await folder();
    await dir.write('args.json', JSON.stringify({ n_samples_per_prompt: 4, ...settings }));
    return (await findSlimeConfig([dir.path]))?.options.withoutEffect;
  };
  assert.deepEqual(await idle({ kl_coef: 0.05 }), ['kl_coef=0.05 has no effect with grpo']);
  assert.equal(await idle({ kl_coef: 0 }), undefined);
  assert.equal(await idle({ kl_coef: 0.05, advantage_estimator: 'reinforce_plus_plus' }), undefined);
  const [report] = await Array.fromAsync(
    verifyDump(adapterOf('slime'), [`${DUMPS}/slime/train_data/0_0.pt`], {
      withoutEffect: ['kl_coef=1 has no effect'],
    }),
  );
  assert.ok(report!.findings.some(({ code }) => code === 'setting-without-effect'));
});
