import assert from 'node:assert/strict';
import { test } from 'node:test';
import { checkExperiment } from '../../../../src/engines/verl-agent/checks.ts';
import { compileVerlAgent } from '../../../../src/engines/verl-agent/compile.ts';
import { resolveVerlAgent, verlAgentContradictions } from '../../../../src/engines/verl-agent/resolve.ts';
import type { RecipeName, VerlAgentSpec } from '../../../../src/engines/verl-agent/spec.ts';

const GAME = 'pick_and_place_simple-Mug-None-Desk-308/trial_T20190908';
const specOf = (recipe: RecipeName, evaluation: VerlAgentSpec['evaluation']): VerlAgentSpec => ({
  ...{ engine: 'verl-agent', name: 'x', recipe },
  evaluation: { ...(recipe.endsWith('eval') ? { baseModel: true } : {}), ...evaluation },
});

test('a panel is played in equal rounds that hold each game once per replicate', () => {
  const cases = [
    ['qwen2.5_1.5b_alfworld_eval', { replicates: 3 }, [67, 6]],
    ['qwen2.5_1.5b_alfworld_eval', { replicates: 3, split: 'seen' }, [70, 6]],
    ['qwen2.5_1.5b_alfworld_train', { replicates: 1 }, [70, 2]],
    ['qwen2.5_1.5b_webshop_eval', { replicates: 1 }, [125, 4]],
    ['qwen2.5_1.5b_alfworld_eval', { replicates: 1, games: 140, split: 'seen' }, [140, 1]],
    ['qwen2.5_1.5b_alfworld_eval', { replicates: 2, games: 4, panel: [GAME, 'a/b', 'c/d'] }, [4, 2]],
    ['qwen2.5_1.5b_alfworld_eval', {}, [128, 4]],
  ] as const;
  for (const [recipe, evaluation, expected] of cases) {
    const spec = specOf(recipe, evaluation as VerlAgentSpec['evaluation']);
    assert.deepEqual(verlAgentContradictions(spec), [], recipe);
    const resolved = resolveVerlAgent(spec);
    assert.deepEqual([resolved.evaluation.games, resolved.evaluation.rounds], expected);
    const plan = compileVerlAgent(resolved);
    assert.equal(plan.dataRows.validation, expected[0] * expected[1]);
    assert.ok(plan.overrides.includes(`data.val_batch_size=${expected[0]}`));
  }
});

test('fields that contradict a panel are refused with the remedy', () => {
  const refused = (recipe: RecipeName, evaluation: VerlAgentSpec['evaluation'], message: RegExp) => {
    const [problem] = verlAgentContradictions(specOf(recipe, evaluation));
    assert.match(`${problem?.field} ${problem?.message}`, message);
  };
  const alfworld = 'qwen2.5_1.5b_alfworld_eval';
  refused(
    alfworld,
    { replicates: 1, rounds: 2 },
    /^\/evaluation\/rounds follows from evaluation\.replicates/,
  );
  refused(alfworld, { panel: [GAME] }, /^\/evaluation\/panel needs evaluation\.replicates/);
  refused(alfworld, { replicates: 1, panel: [GAME, '17'] }, /has 17; games of ALFWorld are paths/);
  refused(
    'qwen2.5_1.5b_webshop_eval',
    { replicates: 1, panel: ['17', GAME] },
    /goals of WebShop are numbers/,
  );
});

test('an evaluation whose games are drawn says so before it starts', () => {
  const checks = (evaluation: VerlAgentSpec['evaluation']) =>
    checkExperiment({
      spec: resolveVerlAgent(specOf('qwen2.5_1.5b_alfworld_eval', evaluation)),
      defaults: [],
    })
      .map(({ check }) => check)
      .filter((check) => check === 'sampled-panel');
  assert.deepEqual([checks({}), checks({ replicates: 1 })], [['sampled-panel'], []]);
});

test('a WebShop training with a panel has other goals and prices, so a checkpoint directory of its own', () => {
  const directoryOf = (recipe: RecipeName, evaluation: VerlAgentSpec['evaluation']) =>
    compileVerlAgent(resolveVerlAgent(specOf(recipe, evaluation))).checkpointDirectory;
  const games = 125;
  assert.notEqual(
    directoryOf('qwen2.5_1.5b_webshop_train', { games }),
    directoryOf('qwen2.5_1.5b_webshop_train', { games, replicates: 1 }),
  );
  assert.equal(
    directoryOf('qwen2.5_1.5b_alfworld_train', { games }),
    directoryOf('qwen2.5_1.5b_alfworld_train', { games, replicates: 1 }),
  );
});
