import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, test } from 'node:test';
import { faithfulPlan } from '../../../../src/engines/verl-agent/recipe-plan.ts';
import { RECIPE_NAMES } from '../../../../src/engines/verl-agent/spec.ts';
import { apiFor, runProgram } from '../../../support/cli.ts';
import { clusterRecord } from '../../../support/store.ts';
import { DIRECTORY, recordTraining } from '../../../support/training.ts';

const folder = await mkdtemp(join(tmpdir(), 'echelon-plan-'));
after(() => rm(folder, { recursive: true }));

const { store, connection } = await apiFor({ after });
await store.clusters.put(clusterRecord({ address: 'h:1' }));

async function plan(...args: string[]): Promise<string> {
  const lines: string[] = [];
  const output = { line: (text = '') => lines.push(text), remark: (text: string) => lines.push(text) };
  const { error } = await runProgram(output, ['plan', ...args]);
  if (error) throw error;
  return lines.join('\n');
}

async function file(name: string, text: string): Promise<string> {
  const path = join(folder, name);
  await writeFile(path, text);
  return path;
}

describe('echelon plan', () => {
  for (const name of RECIPE_NAMES) {
    test(`--recipe ${name} --faithful --json is the script's command`, async () => {
      const { program, overrides, environment, corrections } = JSON.parse(
        await plan('--recipe', name, '--faithful', '--json'),
      );
      const expected = faithfulPlan(name);
      assert.deepEqual(
        { program, overrides, environment, corrections },
        {
          program: expected.program,
          overrides: expected.overrides,
          environment: expected.environment,
          corrections: [],
        },
      );
    });
  }

  test('--recipe names every correction with its reason', async () => {
    const { corrections, program } = JSON.parse(await plan('--recipe', 'qwen2.5_7b_alfworld_eval', '--json'));
    assert.equal(program, 'recipe.hgpo.main_hgpo');
    const keys = corrections.map(({ key }: { key: string }) => key);
    for (const key of ['program', 'evaluation.split', 'trainer.default_local_dir', 'data.custom_cls.path']) {
      assert.ok(keys.includes(key), key);
    }
    assert.match(await plan('--recipe', 'qwen2.5_7b_alfworld_eval'), /does not know hgpo/);
  });

  test('asks the server for the training that a spec names, and shows the plan with its checkpoint', async () => {
    const id = await recordTraining(store);
    const spec = `name: x\nengine: verl-agent-export\ncheckpoint: { experiment: ${id} }\n`;
    const shown = await plan(await file('export.yaml', spec), ...connection);
    assert.match(shown, new RegExp(`checkpointDirectory: .*checkpoints/${DIRECTORY}`));
    assert.match(shown, /step: 80/);
  });

  test('plans a file of any engine without a server', async () => {
    const hgpo = await file('hgpo.yaml', 'name: x\nengine: local\nestimator: { name: hgpo }\n');
    assert.match(
      await plan(hgpo),
      /^python -m echelon_rayworker\.engines\.local \\\n[\s\S]*\n\nspec\.json:\n[\s\S]*estimator:\n {6}name: hgpo\n/,
    );
    const agent = 'name: x\nengine: verl-agent\nrecipe: qwen2.5_7b_webshop_train\ntraining: { steps: 3 }\n';
    const shown = await plan(await file('agent.yaml', agent));
    assert.match(shown, /trainer\.total_epochs: 160 → 3/);
    assert.match(shown, /note: Each step is filled up/);
    const {
      plan: none,
      launch,
      checkpointDirectory,
    } = JSON.parse(await plan(join(folder, 'agent.yaml'), '--json'));
    assert.equal(none, undefined);
    assert.equal(launch.engine, 'verl-agent');
    const directory = `trainer.default_local_dir='{sharedRoot}/checkpoints/${checkpointDirectory}'`;
    assert.ok(launch.arguments.includes(directory));
  });

  test('echelon plan refuses with the field and the remedy', async () => {
    const bad = 'name: x\nengine: verl-agent\nrecipe: qwen2.5_7b_webshop_train\nrollout: { groups: 3 }\n';
    const path = await file('bad.yaml', bad);
    await assert.rejects(plan(path), { exitCode: 2, message: /\/rollout\/groups: .*multiple of 4/ });
    await assert.rejects(plan(await file('no.yaml', 'name: x\n')), {
      exitCode: 2,
      message: /\/engine: is missing/,
    });
  });

  test('wants a file or a recipe, not both', async () => {
    await assert.rejects(plan(), { exitCode: 2 });
    await assert.rejects(plan('x.yaml', '--recipe', 'qwen2.5_7b_webshop_train'), { exitCode: 2 });
    await assert.rejects(plan('x.yaml', '--faithful'), { exitCode: 2 });
    await assert.rejects(plan('--recipe', 'qwen'), { code: 'commander.invalidArgument' });
  });
});
