import assert from 'node:assert/strict';
import { test } from 'node:test';
import { DEFAULT_RULES, presetRule, RULE_PRESETS } from '../../../src/plan/rule-presets.ts';
import { ruleProblems } from '../../../src/plan/rules.ts';
import { RULE_PRESET_NAMES } from '../../../src/schemas/rules.ts';

test('every rule preset is a valid rule of a spec', () => {
  assert.deepEqual(Object.keys(RULE_PRESETS).sort(), [...RULE_PRESET_NAMES].sort());
  for (const name of RULE_PRESET_NAMES) {
    const rule = presetRule(name);
    assert.deepEqual(ruleProblems([{ name, when: rule.when, for: rule.for }]), [], name);
    assert.equal(rule.do, 'mark');
  }
  assert.deepEqual(DEFAULT_RULES, ['wrong-rows', 'not-finite']);
});
