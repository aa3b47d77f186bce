import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { specProblems } from '../../../../src/engines/validate-spec.ts';
import { evaluationsOf, verlAgentPresets } from '../../../../src/engines/verl-agent/presets.ts';
import { resolveVerlAgent } from '../../../../src/engines/verl-agent/resolve.ts';
import { resolveSpec } from '../../../../src/plan/resolve-spec.ts';

const named = (name: string) => verlAgentPresets().find((preset) => preset.name === name)!;

describe('presets', () => {
  test('every preset has valid specs with plans, and no two trainings share a checkpoint directory', () => {
    for (const { name, runs } of verlAgentPresets()) {
      for (const spec of runs.flatMap((run) => [run.train, ...run.evaluations])) {
        assert.deepEqual(specProblems(JSON.parse(JSON.stringify(spec))), [], name);
        resolveSpec(spec);
      }
      const directories = runs.map((run) => run.evaluations[0]!.evaluation!.checkpoint!.directory);
      assert.equal(new Set(directories).size, runs.length, name);
    }
  });

  test('the evaluations of a training have its environment variables', () => {
    const { train } = named('paper-main-table').runs[0]!;
    const env = { HF_HUB_OFFLINE: '1' };
    for (const evaluation of evaluationsOf({ ...train, env })) assert.deepEqual(evaluation.env, env);
    for (const evaluation of evaluationsOf(train)) assert.equal(evaluation.env, undefined);
  });

  test('a preset evaluates with three seeds, and ALFWorld in both splits', () => {
    const [run] = named('paper-main-table').runs;
    const pairs = run!.evaluations.map(({ evaluation, environment }) => [
      evaluation!.split,
      environment!.seed,
    ]);
    assert.deepEqual(pairs, [
      ['seen', 123],
      ['seen', 456],
      ['seen', 789],
      ['unseen', 123],
      ['unseen', 456],
      ['unseen', 789],
    ]);
    const webshop = evaluationsOf({ engine: 'verl-agent', name: 'w', recipe: 'qwen2.5_7b_webshop_train' });
    assert.deepEqual(
      webshop.map(({ evaluation }) => evaluation!.split),
      [undefined, undefined, undefined],
    );
  });

  test('an evaluation of a preset has the history, the GPUs and the model of its training', () => {
    for (const { train, evaluations } of verlAgentPresets().flatMap(({ runs }) => runs)) {
      const trained = resolveSpec(train).spec;
      for (const one of evaluations) {
        const { spec } = resolveSpec(one);
        assert.ok(spec.engine === 'verl-agent' && trained.engine === 'verl-agent');
        assert.equal(spec.environment.historyLength, trained.environment.historyLength);
        assert.equal(spec.resources.gpus, trained.resources.gpus);
        assert.equal(spec.model.path, trained.model.path);
      }
    }
  });

  test('the presets have the figures of the paper', () => {
    const table = named('paper-main-table').runs.map(({ name, figures }) => [
      name,
      ...Object.values(figures),
    ]);
    assert.equal(table.length, 28);
    assert.deepEqual(
      table.filter(([, ...figures]) => figures.length > 0),
      [
        ['GiGPO K=4 1.5b alfworld', 93.29, 91.53],
        ['HGPO K=4 1.5b alfworld', 94.85, 92.12],
        ['GiGPO K=4 1.5b webshop', 86.8, 73.24],
        ['HGPO K=2 1.5b webshop', 88.92],
        ['HGPO K=4 1.5b webshop', 90.64, 78.12],
        ['GiGPO K=4 7b alfworld', 95.43, 92.79],
        ['HGPO K=4 7b alfworld', 95.96, 93.75],
        ['GiGPO K=4 7b webshop', 88.44, 72.5],
        ['HGPO K=4 7b webshop', 90.49, 79.29],
      ],
    );
    assert.match(named('paper-main-table').notes.join(' '), /GPT-4o 48\.0.*take about \d+ GB/);
    const ablation = named('paper-history-ablation').runs.map(({ figures }) => figures.webshopScore);
    assert.deepEqual(ablation, [86.8, 87.32, 88.92, 90.64]);
  });

  test('the figures of GiGPO belong to the K from which the gains of the paper follow', () => {
    const of = (name: string) => named('paper-main-table').runs.find((run) => run.name === name)!.figures;
    const gain = (method: string) => {
      const figures = of(`${method} K=4 1.5b webshop`);
      return (figures.webshopScore! + figures.webshopSuccess!) / 2;
    };
    assert.equal((gain('HGPO') - gain('GiGPO')).toFixed(2), '4.36');
  });

  test('PPO has as many tasks as the others have trajectories', () => {
    for (const preset of ['comparison', 'paper-main-table']) {
      for (const { name, train } of named(preset).runs) {
        const { groups, groupSize } = resolveVerlAgent(train).rollout;
        assert.deepEqual([groups, groupSize], name.startsWith('PPO') ? [128, 1] : [16, 8], name);
      }
    }
  });

  test('every ablation contains the setting of the recipe, and equal trainings of two presets share their checkpoints', () => {
    const directory = (preset: string, run: string) =>
      named(preset).runs.find(({ name }) => name === run)!.evaluations[0]!.evaluation!.checkpoint!.directory;
    const table = directory('paper-main-table', 'HGPO K=2 1.5b alfworld');
    assert.equal(directory('alpha-ablation', 'alpha=1 alfworld'), table);
    assert.equal(directory('base-group-ablation', 'without base group alfworld'), table);
    assert.equal(directory('mode-ablation', 'mean_std_norm alfworld'), table);
    assert.equal(directory('group-size-ablation', 'group size 8 alfworld'), table);
    assert.equal(
      directory('paper-history-ablation', 'K=0 (GiGPO) webshop'),
      directory('paper-main-table', 'GiGPO K=4 1.5b webshop'),
    );
    const drGrpo = named('comparison').runs.find(({ name }) => name === 'Dr. GRPO')!.train;
    assert.equal(drGrpo.training?.lossAggregation, 'seq-mean-token-sum-norm');
  });
});
