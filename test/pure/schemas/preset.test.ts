import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Value } from 'typebox/value';
import { SubmitPreset } from '../../../src/schemas/preset.ts';

test('a preset submission refuses unknown fields and bad paths', () => {
  assert.ok(Value.Check(SubmitPreset, {}));
  assert.ok(Value.Check(SubmitPreset, { label: 'mine', home: '/opt/verl-agent', runs: ['HGPO K=4'] }));
  for (const wrong of [{ seed: 1 }, { home: 'relative' }, { home: '/a/../b' }, { runs: [] }]) {
    assert.ok(!Value.Check(SubmitPreset, wrong), JSON.stringify(wrong));
  }
});
