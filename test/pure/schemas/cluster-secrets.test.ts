import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Value } from 'typebox/value';
import { SecretProjects } from '../../../src/schemas/cluster-secrets.ts';

test('a list of secrets has names of secrets, each with projects or *', () => {
  const isValid = (list: unknown) => Value.Check(SecretProjects, list);
  for (const list of [{}, { 'hf-read': [] }, { wandb: ['vision', '*'] }]) assert.ok(isValid(list));
  for (const list of [{ '../x': ['vision'] }, { x: 'vision' }, { x: ['Vision'] }, { x: ['a', 'a'] }])
    assert.ok(!isValid(list), JSON.stringify(list));
});
