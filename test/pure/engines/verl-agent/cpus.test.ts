import assert from 'node:assert/strict';
import { test } from 'node:test';
import { cpusNeeded } from '../../../../src/engines/verl-agent/cpus.ts';
import { resolveVerlAgent } from '../../../../src/engines/verl-agent/resolve.ts';

const BASE = { engine: 'verl-agent', name: 'x' } as const;

test('the CPUs of a training are those of actors, trainer and GPUs', () => {
  const train = resolveVerlAgent({ ...BASE, recipe: 'qwen2.5_1.5b_alfworld_train' });
  assert.deepEqual(cpusNeeded(train), { actors: 256, actorCpus: 25.6, total: 28.6 });
  assert.equal(train.resources.cpus, 28.6);
  const gang = resolveVerlAgent({
    ...{ ...BASE, recipe: 'qwen2.5_1.5b_alfworld_train' },
    resources: { nodes: 2 },
  });
  assert.equal(cpusNeeded(gang).total, 30.6, 'two GPUs on each of two nodes');
});

test('the CPUs of an evaluation do not count training actors', () => {
  const checkpoint = { directory: 'a/b' };
  const spec = resolveVerlAgent({ ...BASE, recipe: 'qwen2.5_7b_alfworld_eval', evaluation: { checkpoint } });
  assert.deepEqual(cpusNeeded(spec), { actors: 128, actorCpus: 12.8, total: 17.8 });
});
