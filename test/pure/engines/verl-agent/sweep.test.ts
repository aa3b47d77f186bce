import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { EchelonError, type FieldProblem } from '../../../../src/core/errors.ts';
import { compileVerlAgent } from '../../../../src/engines/verl-agent/compile.ts';
import { MERGED_CONFIG } from '../../../../src/engines/verl-agent/merged-config.ts';
import type { ResolvedVerlAgent } from '../../../../src/engines/verl-agent/spec.ts';
import { resolveSpec } from '../../../../src/plan/resolve-spec.ts';
import { draftSweep } from '../../../../src/plan/sweep.ts';
import { createSweepCheck } from '../../../../src/plan/sweep-check.ts';
import type { SweepRequest } from '../../../../src/schemas/sweep.ts';

const HGPO = 'qwen2.5_1.5b_alfworld_train';
const GRAPHGPO = 'graphgpo_qwen2.5_1.5b_alfworld_train';

function judged(changes: Partial<SweepRequest>) {
  const draft = draftSweep({
    name: 'methods',
    method: 'list',
    spec: { engine: 'verl-agent' },
    axes: {},
    ...changes,
  });
  const check = createSweepCheck(draft, resolveSpec);
  return { children: draft.entries.map((_, index) => check.child(index)), check };
}

function problemsOf(changes: Partial<SweepRequest>): readonly FieldProblem[] {
  try {
    judged(changes).check.refuse();
  } catch (error) {
    assert.ok(error instanceof EchelonError, String(error));
    return error.problems;
  }
  return [];
}

describe('a sweep over the estimators of verl-agent', () => {
  const axes = {
    recipe: [HGPO, HGPO, GRAPHGPO, GRAPHGPO],
    estimator: [
      { name: 'hgpo' },
      { name: 'gigpo', mode: 'mean_std_norm' },
      { name: 'graphgpo' },
      { name: 'graphgpo', normalizeDistance: true, gamma: 0.2 },
    ],
  };

  test('runs GraphGPO by its own recipe and the others by that of HGPO, each with its own keys', () => {
    const { children, check } = judged({ axes });
    check.refuse();
    const plans = children.map((child) => compileVerlAgent(child!.resolved.spec as ResolvedVerlAgent));
    const setting = (at: number, key: string) =>
      plans[at]!.overrides.find((one) => one.startsWith(`${key}=`))?.slice(key.length + 1);
    const rows = [
      'algorithm.adv_estimator',
      'algorithm.gamma',
      'algorithm.gigpo.mode',
      'algorithm.graphgpo.normalize_distance',
    ];
    assert.deepEqual(
      plans.map((_, at) => rows.map((key) => setting(at, key))),
      [
        ['hgpo', '0.95', undefined, undefined],
        ['gigpo', '0.95', 'mean_std_norm', undefined],
        ['graphgpo', '0.10', undefined, 'False'],
        ['graphgpo', '0.2', undefined, 'True'],
      ],
    );
    const [hgpo, , graphgpo] = plans;
    assert.deepEqual(
      [hgpo!.program, graphgpo!.program],
      ['recipe.hgpo.main_hgpo', 'recipe.GraphGPO.main_graphgpo'],
    );
    for (const { overrides } of plans)
      for (const key of overrides.map((one) => one.split('=')[0]!))
        assert.ok(/^(hydra\.|\+)/.test(key) || MERGED_CONFIG.has(key), key);
    assert.equal(new Set(plans.map((plan) => plan.checkpointDirectory)).size, plans.length);
  });

  test('is refused where a recipe and an estimator do not belong together, at the value that is wrong', () => {
    const grid = { spec: { engine: 'verl-agent', recipe: HGPO }, method: 'grid' } as const;
    const [graph] = problemsOf({ ...grid, axes: { estimator: [{ name: 'gigpo' }, { name: 'graphgpo' }] } });
    assert.equal(graph?.field, '/axes/estimator/1/name');
    assert.match(graph!.message, /take a recipe that starts with graphgpo_/);
    const [other] = problemsOf({ axes: { recipe: [GRAPHGPO], estimator: [{ name: 'gigpo' }] } });
    assert.match(other!.message, /take a recipe without graphgpo_ for gigpo/);
    const [g2po] = problemsOf({ ...grid, axes: { estimator: [{ name: 'g2po' }] } });
    assert.match(g2po!.message, /hgpo.*graphgpo/);
  });
});
