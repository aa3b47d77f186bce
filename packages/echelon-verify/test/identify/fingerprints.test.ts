import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  COMMITS,
  formFingerprint,
  formOfSettings,
  KNOWN_FORMS,
  knownForm,
} from '../../src/identify/fingerprints.ts';
import { isAllowed } from '../../src/kernel/estimators/parameters.ts';
import { estimatorOf } from '../../src/kernel/estimators/registry.ts';

test('every known form has an id of its own, a source with a line, and parameters of its estimator', () => {
  assert.equal(new Set(KNOWN_FORMS.map(({ id }) => id)).size, KNOWN_FORMS.length);
  for (const { id, trainer, estimator, params, source, from = {} } of KNOWN_FORMS) {
    assert.ok(trainer in COMMITS, id);
    assert.match(source, /^[\w./]+\.py:\d+$/, id);
    const { parameters } = estimatorOf(estimator);
    for (const key of Object.keys(from)) assert.ok(key in parameters, `${id}: ${key}`);
    for (const [key, value] of Object.entries(params)) {
      assert.ok(parameters[key] !== undefined && isAllowed(parameters[key], value), `${id}: ${key}`);
    }
  }
});

test('a form is found by its id, and has the fingerprint of its parameters', () => {
  assert.equal(formFingerprint(knownForm('prime-rl/grpo')), 'grpo(std=none,singleton=zero,over=rows)');
  assert.throws(() => knownForm('unknown/grpo'), /no known form unknown\/grpo/);
});

/** Every combination of the values that settings can have. */
function combinations(settings: Readonly<Record<string, unknown>>): Record<string, unknown>[] {
  return Object.entries(settings).reduce<Record<string, unknown>[]>(
    (all, [key, values]) => all.flatMap((one) => [values].flat().map((value) => ({ ...one, [key]: value }))),
    [{}],
  );
}

test('settings that select a known form select no other form of the trainer', () => {
  for (const { id, trainer, when = [] } of KNOWN_FORMS)
    for (const settings of when.flatMap(combinations))
      assert.equal(formOfSettings(trainer, settings)?.id, id, JSON.stringify(settings));
});

test('the parameters of a form are the values of the settings, and those of the form for settings that are omitted', () => {
  const form = formOfSettings('verl-agent', { adv_estimator: 'gae', gamma: 0.99, lam: null, other: 1 });
  assert.deepEqual(form?.params, { maskedTokens: 'include', discount: 0.99 });
  assert.equal(formOfSettings('trl', { scale_rewards: 'False', before_1_6: false })?.id, 'trl/dr-grpo');
  assert.equal(formOfSettings('verl-agent', { adv_estimator: 'odd' }), undefined);
  const weighted = { adv_estimator: 'tir_optimal_token_baseline', tokens: true, rollout_is_weights: true };
  assert.deepEqual(formOfSettings('verl', weighted)?.params, {
    align: 'trained-token',
    rolloutWeights: true,
  });
  assert.equal(formOfSettings('no-trainer', {}), undefined);
});
