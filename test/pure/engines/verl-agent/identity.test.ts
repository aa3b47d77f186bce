import assert from 'node:assert/strict';
import { test } from 'node:test';
import { countedVariables, numbersHash } from '../../../../src/engines/verl-agent/identity.ts';

const BASE: [string, string][] = [
  ['algorithm.gamma', '0.95'],
  ['env.seed', '0'],
  ['trainer.total_epochs', '160'],
  ['trainer.save_freq', '40'],
];
const hash = (changed: [string, string][] = [], besides: string[] = []) =>
  numbersHash({ entries: [...new Map([...BASE, ...changed])], besides });

test('numbersHash changes with settings that change the numbers, and not with their spelling or order', () => {
  assert.match(hash(), /^[0-9a-f]{10}$/);
  assert.notEqual(hash([['env.seed', '1']]), hash());
  assert.notEqual(hash([['algorithm.gamma', '0.9']]), hash());
  assert.notEqual(hash([], ['panel']), hash());
  assert.equal(hash([['algorithm.gamma', '0.950']]), hash());
  assert.equal(numbersHash({ entries: BASE.toReversed(), besides: [] }), hash());
});

test('numbersHash stays the same for other paths, loggers, save intervals and a longer training', () => {
  for (const changed of [
    ['trainer.total_epochs', '320'],
    ['trainer.save_freq', '10'],
    ['trainer.logger', '[console]'],
    ['data.train_files', 'x'],
    ['hydra.run.dir', 'x'],
  ] as [string, string][]) {
    assert.equal(hash([changed]), hash(), changed[0]);
  }
});

test('numbersHash changes with the steps if the learning rate depends on them', () => {
  const cosine: [string, string] = ['actor_rollout_ref.actor.optim.warmup_style', 'cosine'];
  assert.notEqual(hash([cosine, ['trainer.total_epochs', '320']]), hash([cosine]));
});

test('variables of trackers and places change no identity, others do', () => {
  assert.deepEqual(countedVariables({ WANDB_MODE: 'offline', HF_HOME: '/h', ALFWORLD_DATA: '/a' }), []);
  assert.deepEqual(countedVariables({ VLLM_USE_V1: '0', A: '1' }), ['A=1', 'VLLM_USE_V1=0']);
  assert.deepEqual(countedVariables(), []);
});
