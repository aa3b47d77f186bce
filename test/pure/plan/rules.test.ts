import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, test } from 'node:test';
import { parse } from 'yaml';
import { FINDINGS } from '../../../packages/echelon-verify/src/report/findings.ts';
import { STEP_FINDINGS } from '../../../packages/echelon-verify/src/report/step-findings.ts';
import { specProblems, validateSpec } from '../../../src/engines/validate-spec.ts';
import { resolveSpec } from '../../../src/plan/resolve-spec.ts';
import { DEFAULT_RULES, presetRule, RULE_PRESETS } from '../../../src/plan/rule-presets.ts';
import { conditionInWords, resolveRules, ruleProblems } from '../../../src/plan/rules.ts';
import { draftSweep } from '../../../src/plan/sweep.ts';
import { ERROR_CODES, RULE_PRESET_NAMES } from '../../../src/schemas/rules.ts';
import type { SweepRequest } from '../../../src/schemas/sweep.ts';

describe('rules of a spec', () => {
  test('a spec without rules gets the default rules for a wrong signal and losses that are not finite', () => {
    const { spec, defaults } = resolveSpec({ engine: 'replay', name: 'r' });
    assert.deepEqual(
      spec.rules.map((rule) => [rule.name, rule.do]),
      [
        ['wrong-signal', 'mark'],
        ['not-finite', 'mark'],
      ],
    );
    assert.ok(defaults.includes('/rules'));
    const none = resolveSpec({ engine: 'replay', name: 'r', rules: [] });
    assert.deepEqual(none.spec.rules, []);
    assert.ok(!none.defaults.includes('/rules'));
  });

  test('a rule with a preset gets its condition, and a rule without a name gets a number', () => {
    const [first, second] = resolveRules([
      { preset: 'kl-high', do: 'stop', for: 5 },
      { when: { metric: ['a'], below: 1 }, do: 'stop-at-checkpoint', after: 10, within: { steps: 7 } },
    ]);
    assert.deepEqual(first, {
      name: 'kl-high',
      when: { metric: ['actor/ppo_kl'], above: 0.1 },
      do: 'stop',
      for: 5,
      after: 0,
    });
    assert.equal(second?.name, 'rule-2');
    assert.deepEqual(second?.within, { steps: 7, minutes: 60 });
    assert.equal(conditionInWords(first!), 'actor/ppo_kl above 0.1, 5 times in a row');
    assert.equal(conditionInWords(second!), 'a below 1, after step 10');
  });

  test('a contradictory rule is refused with its field', () => {
    const fields = (rules: Parameters<typeof ruleProblems>[0]) =>
      ruleProblems(rules).map(({ field }) => field);
    assert.deepEqual(fields([{ preset: 'coverage', when: { errors: ['any'] } }]), ['/rules/0/when']);
    assert.deepEqual(fields([{}]), ['/rules/0/when']);
    assert.deepEqual(fields([{ preset: 'coverage' }, { preset: 'coverage' }]), ['/rules/1/name']);
    assert.deepEqual(fields([{ preset: 'coverage', within: { steps: 1 } }]), ['/rules/0/within']);
    assert.deepEqual(fields([{ preset: 'coverage', name: 'early-stopping' }]), ['/rules/0/name']);
    assert.deepEqual(fields([{ when: { above: 1 } }]), ['/rules/0/when']);
    assert.deepEqual(fields([{ when: { metric: ['a'], errors: ['any'] } }]), ['/rules/0/when']);
    assert.deepEqual(fields([{ when: { errors: ['any'], above: 1 } }]), ['/rules/0/when/above']);
    assert.deepEqual(fields([{ when: { verification: 'coverage', notFinite: true } }]), [
      '/rules/0/when/notFinite',
    ]);
    assert.deepEqual(fields([{ when: { metric: ['a'], above: 1, below: 0 } }]), ['/rules/0/when']);
    assert.deepEqual(fields([{ when: { metric: ['a'] } }]), ['/rules/0/when']);
    assert.throws(() => resolveSpec({ engine: 'replay', name: 'r', rules: [{}] }), { code: 'invalid-spec' });
  });

  test('a rule with an unknown key or preset is refused with the nearest name', () => {
    const problems = (rule: object) => specProblems({ engine: 'replay', name: 'r', rules: [rule] });
    assert.deepEqual(
      problems({ preset: 'kl-hihg' }).map(({ field }) => field),
      ['/rules/0/preset'],
    );
    assert.match(problems({ preset: 'kl-hihg' })[0]?.message ?? '', /did you mean kl-high\?/);
    assert.match(problems({ wen: {} })[0]?.message ?? '', /did you mean when\?/);
    assert.match(problems({ when: { metric: ['a'], abov: 1 } })[0]?.message ?? '', /did you mean above\?/);
    assert.equal(problems({ when: { metric: 'a', above: 1 } }).length, 1);
    assert.deepEqual(problems({ preset: 'coverage', do: 'stop' }), []);
  });

  test('conditionInWords describes every kind of condition', () => {
    const words = (when: Parameters<typeof conditionInWords>[0]['when']) =>
      conditionInWords({ when, for: 1, after: 0 });
    assert.equal(words({ errors: ['any'] }), 'any error finding');
    assert.equal(words({ errors: ['step-gap', 'group-size'] }), 'error finding step-gap or group-size');
    assert.equal(words({ metric: ['a', 'b'], notFinite: true }), 'a or b not finite');
    assert.equal(words({ verification: 'coverage', below: 0.5 }), 'coverage below 0.5');
    assert.equal(
      words({ metric: ['a'], plateau: { window: 3, minDelta: 0.1, goal: 'min' } }),
      'a without a fall of more than 0.1 in 3 values',
    );
  });
});

test('the examples of docs/guides/rules.md are valid', () => {
  const text = readFileSync(new URL('../../../docs/guides/rules.md', import.meta.url), 'utf8');
  const [spec, sweep] = [...text.matchAll(/```yaml\n(.*?)```/gs)].map(([, yaml]) => parse(yaml!) as unknown);
  assert.equal(resolveSpec(validateSpec(spec)).spec.rules.length, 3);
  const request = sweep as SweepRequest;
  assert.equal(draftSweep(request).entries.length, 15);
  assert.equal(request.earlyStopping?.minChildren, 4);
});

test('every rule preset is a valid rule of a spec', () => {
  assert.deepEqual(Object.keys(RULE_PRESETS).sort(), [...RULE_PRESET_NAMES].sort());
  for (const name of RULE_PRESET_NAMES) {
    const rule = presetRule(name);
    assert.deepEqual(ruleProblems([{ name, when: rule.when, for: rule.for }]), [], name);
    assert.equal(rule.do, 'mark');
  }
  assert.deepEqual(DEFAULT_RULES, ['wrong-signal', 'not-finite']);
});

test('a rule can name every error finding', () => {
  const errors = Object.entries({ ...FINDINGS, ...STEP_FINDINGS }).filter(
    ([, { severity }]) => severity === 'error',
  );
  const codes = errors.map(([code]) => code);
  // not-verifiable is the finding of a batch that could not be read at all.
  assert.deepEqual([...ERROR_CODES].sort(), ['any', 'wrong-signal', 'not-verifiable', ...codes].sort());
});
