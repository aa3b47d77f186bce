import assert from 'node:assert/strict';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { EXIT } from 'command-kit/exit';
import { parse } from 'yaml';
import { keptOutput, runProgram } from '../../../support/cli.ts';

const SCRIPT = `set -x
ENGINE=\${1:-vllm}
export ALFWORLD_DATA=/data/alfworld
conda activate verl
ray stop --force
python3 -m examples.data_preprocess.prepare --mode 'text' --train_data_size 16
python3 -m recipe.hgpo.main_hgpo \\
    algorithm.adv_estimator=hgpo \\
    algorithm.hgpo.mode=mean_std_norm \\
    actor_rollout_ref.model.path=Qwen/Qwen2.5-1.5B-Instruct \\
    actor_rollout_ref.rollout.name=$ENGINE \\
    env.env_name=alfworld/AlfredTWEnv \\
    trainer.logger=['console','wandb'] \\
    trainer.default_local_dir=/data/checkpoints \\
    trainer.n_gpus_per_node=8 \\
    trainer.experiment_name="my run" $@
`;

/** A folder with a script, in which the command runs. */
async function checkout(t: TestContext, script: string) {
  const folder = await mkdtemp(join(tmpdir(), 'echelon-box-'));
  const before = process.cwd();
  t.after(async () => {
    process.chdir(before);
    await rm(folder, { recursive: true });
  });
  await mkdir(join(folder, 'verl'));
  await writeFile(join(folder, 'run.sh'), script);
  process.chdir(folder);
  const run = async (...words: string[]) => {
    const output = keptOutput();
    return { output, ...(await runProgram(output, ['box', 'init', '--script', 'run.sh', ...words])) };
  };
  return { folder, run };
}

test('a spec is made from a script without training anything', async (t) => {
  const { folder, run } = await checkout(t, SCRIPT);
  const { exitCode, output } = await run('--python', 'ENV/bin/python', 'hf');
  assert.equal(exitCode, 0, output.remarks.join('\n'));
  const spec = parse(await readFile(join(folder, 'spec.yaml'), 'utf8'));
  assert.deepEqual(
    [spec.name, spec.recipe, spec.estimator.name, spec.resources.gpus, spec.rollout.engine, spec.home],
    ['my run', 'qwen2.5_1.5b_alfworld_train', 'hgpo', 8, 'hf', undefined],
  );
  const text = output.lines.join('\n');
  assert.match(text, /Not in the spec:\n {2}trainer\.default_local_dir=\/data\/checkpoints\n {6}is a path/);
  assert.match(
    text,
    /ppo_micro_batch_size_per_gpu=\(not passed\)\n {6}a spec cannot leave it open; that of the recipe is taken, 16/,
  );
  assert.match(text, /echelon up --detach --python ENV\/bin\/python\n/);
  assert.ok(
    text.includes(`update local --env VERL_AGENT_HOME=${folder} --env ALFWORLD_DATA=/data/alfworld\n`),
    text,
  );
  const again = await run();
  assert.deepEqual([again.exitCode, again.error?.message.includes('--force')], [EXIT.usage, true]);
});

test('the spec can be planned', async (t) => {
  const { run } = await checkout(t, SCRIPT);
  await run();
  const output = keptOutput();
  const { exitCode, error } = await runProgram(output, ['plan', 'spec.yaml']);
  assert.equal(exitCode, 0, error?.message);
  assert.match(output.lines.join('\n'), /trainer\.n_gpus_per_node=8/);
});

test('a script that trains nothing says what it printed', async (t) => {
  const { run } = await checkout(t, 'echo "no such folder" >&2\nexit 3\n');
  const { exitCode, error } = await run();
  assert.equal(exitCode, EXIT.notOk);
  assert.match(error!.message, /did not call `python` or `python3`[\s\S]*no such folder/);
});
