import assert from 'node:assert/strict';
import { test } from 'node:test';
import { EXPORTED_BYTES, gigabytes, parametersOf } from '../../../../src/engines/model-size.ts';
import { cpusNeeded } from '../../../../src/engines/verl-agent/cpus.ts';
import { diskNeeded } from '../../../../src/engines/verl-agent/disk.ts';
import { verlAgentPresets } from '../../../../src/engines/verl-agent/presets.ts';
import { resolveVerlAgent } from '../../../../src/engines/verl-agent/resolve.ts';
import type { VerlAgentSpec } from '../../../../src/engines/verl-agent/spec.ts';

const SMALL: VerlAgentSpec = { engine: 'verl-agent', name: 'x', recipe: 'qwen2.5_1.5b_alfworld_train' };
const LARGE: VerlAgentSpec = { ...SMALL, recipe: 'qwen2.5_7b_webshop_train' };
const needed = (spec: VerlAgentSpec) => diskNeeded(resolveVerlAgent(spec))!;

test('a checkpoint has 12 bytes a parameter: 18.5 GB with 1.5B, 91 GB with 7B', () => {
  assert.equal(gigabytes(needed(SMALL).each), '18.5 GB');
  assert.equal(gigabytes(needed(LARGE).each), '91.4 GB');
  assert.equal(needed(SMALL).saves, 4);
  assert.equal(gigabytes(needed(SMALL).total), '77.2 GB');
});

test('retained checkpoints, LoRA and a critic count, an evaluation and a training without saves need nothing', () => {
  const with_ = (more: Partial<VerlAgentSpec>) => needed({ ...SMALL, ...more });
  assert.equal(with_({ training: { keepCheckpoints: 2 } }).saves, 2);
  assert.equal(with_({ training: { keepCheckpoints: 9 } }).saves, 4);
  assert.equal(with_({ training: { steps: 161 } }).saves, 5);
  assert.equal(with_({ training: { saveEvery: 0 } }).total, 0);
  assert.equal(gigabytes(with_({ model: { loraRank: 32 } }).each), '6.2 GB');
  const ppo = with_({ estimator: { name: 'ppo' }, resources: { gpus: 1 } });
  assert.equal(gigabytes(ppo.each), '37.1 GB');
  const checkpoint = { directory: 'p/k2_x' };
  assert.equal(
    needed({ ...SMALL, recipe: 'qwen2.5_1.5b_alfworld_eval', evaluation: { checkpoint } }).total,
    0,
  );
});

test('a model whose name does not state its size gives no estimate', () => {
  assert.equal(diskNeeded(resolveVerlAgent({ ...SMALL, model: { path: '/models/mine' } })), undefined);
});

test("the checkpoints of the paper's main table with 1.5B fit the default volume of the chart", () => {
  const runs = verlAgentPresets()[0]!.runs.filter(({ name }) => name.includes('1.5b'));
  const total = runs.reduce((sum, { train }) => sum + needed(train).total, 0);
  assert.ok(total < 2 ** 40, gigabytes(total));
});

const BASE = { engine: 'verl-agent', name: 'x' } as const;

test('the CPUs of a training are those of actors, trainer and GPUs', () => {
  const train = resolveVerlAgent({ ...BASE, recipe: 'qwen2.5_1.5b_alfworld_train' });
  assert.deepEqual(cpusNeeded(train), { actors: 256, actorCpus: 25.6, total: 28.6 });
  assert.equal(train.resources.cpus, 28.6);
  const gang = resolveVerlAgent({
    ...BASE,
    recipe: 'qwen2.5_1.5b_alfworld_train',
    resources: { nodes: 2 },
  });
  assert.equal(cpusNeeded(gang).total, 30.6, 'two GPUs on each of two nodes');
});

test('the CPUs of an evaluation do not count training actors', () => {
  const checkpoint = { directory: 'a/b' };
  const spec = resolveVerlAgent({ ...BASE, recipe: 'qwen2.5_7b_alfworld_eval', evaluation: { checkpoint } });
  assert.deepEqual(cpusNeeded(spec), { actors: 128, actorCpus: 12.8, total: 17.8 });
});

test("a model's parameters are read from its name or from that of a checkpoint directory, else unknown", () => {
  assert.equal(parametersOf('/models/mine'), undefined);
  assert.equal(parametersOf('org/other-3B-chat/'), 3e9);
  assert.equal(parametersOf('Qwen/Qwen2.5-7B-Instruct'), 7.616e9);
  assert.equal(parametersOf('qwen2.5_1.5b_alfworld_train'), 1.544e9);
  assert.equal(gigabytes(EXPORTED_BYTES * parametersOf('Qwen2.5-1.5B')!), '3.1 GB');
});
