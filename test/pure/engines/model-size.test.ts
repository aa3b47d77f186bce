import assert from 'node:assert/strict';
import { test } from 'node:test';
import { EXPORTED_BYTES, gigabytes, parametersOf } from '../../../src/engines/model-size.ts';

test("a model's parameters are read from its name or from that of a checkpoint directory, else unknown", () => {
  assert.equal(parametersOf('/models/mine'), undefined);
  assert.equal(parametersOf('org/other-3B-chat/'), 3e9);
  assert.equal(parametersOf('Qwen/Qwen2.5-7B-Instruct'), 7.616e9);
  assert.equal(parametersOf('qwen2.5_1.5b_alfworld_train'), 1.544e9);
  assert.equal(gigabytes(EXPORTED_BYTES * parametersOf('Qwen2.5-1.5B')!), '3.1 GB');
});
