import assert from 'node:assert/strict';
import { test } from 'node:test';
import { completeEvaluation, trainedSettings } from '../../../../src/engines/verl-agent/engine.ts';
import { resolveVerlAgent } from '../../../../src/engines/verl-agent/resolve.ts';
import type { VerlAgentSpec } from '../../../../src/engines/verl-agent/spec.ts';

const TRAINING: VerlAgentSpec = {
  engine: 'verl-agent',
  name: 'x',
  recipe: 'qwen2.5_1.5b_webshop_train',
  home: '/opt/v',
  resources: { nodes: 2, gpus: 2 },
};
const EVALUATION: VerlAgentSpec = { ...TRAINING, recipe: 'qwen2.5_1.5b_webshop_eval', home: '/opt/other' };
const settings = () => {
  const found = trainedSettings(resolveVerlAgent(TRAINING), '../../checkpoints/p/run/global_step_80');
  assert.ok(typeof found !== 'string');
  return { ...found, step: 80, cluster: 'fleet' };
};

test('the directory of a training is that of its reported checkpoint, even if an older version has named it', () => {
  assert.deepEqual(settings(), {
    directory: 'p/run',
    home: '/opt/v',
    env: {},
    resources: { nodes: 2, gpus: 2 },
    model: { path: 'Qwen/Qwen2.5-1.5B-Instruct', loraRank: 0, loraAlpha: 16 },
    tensorParallelSize: 2,
    step: 80,
    cluster: 'fleet',
  });
});

test('an evaluation has the GPUs of its training in all, on as many nodes as it says', () => {
  const { resources: _resources, ...omitted } = EVALUATION;
  const completed = (spec: VerlAgentSpec) => completeEvaluation(spec, settings()) as VerlAgentSpec;
  assert.deepEqual(completed(omitted).resources, { nodes: 2, gpus: 2 });
  assert.deepEqual(completed({ ...EVALUATION, resources: { nodes: 1, gpus: 4 } }).resources, {
    nodes: 1,
    gpus: 4,
  });
  assert.equal(completed(EVALUATION).home, '/opt/other');
  assert.match(
    JSON.stringify(completed({ ...EVALUATION, resources: { gpus: 4 } })),
    /must give 4 GPUs in all.*gives 8/,
  );
});
