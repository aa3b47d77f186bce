import assert from 'node:assert/strict';
import { test } from 'node:test';
import { COMMITS, formFingerprint, KNOWN_FORMS, knownForm } from '../../src/identify/fingerprints.ts';
import { isAllowed } from '../../src/kernel/estimators/parameters.ts';
import { estimatorOf } from '../../src/kernel/estimators/registry.ts';

test('every known form has an id of its own, a source with a line, and parameters of its estimator', () => {
  assert.equal(new Set(KNOWN_FORMS.map(({ id }) => id)).size, KNOWN_FORMS.length);
  for (const { id, trainer, estimator, params, source } of KNOWN_FORMS) {
    assert.ok(trainer in COMMITS, id);
    assert.match(source, /^[\w./]+\.py:\d+$/, id);
    const { parameters } = estimatorOf(estimator);
    for (const [key, value] of Object.entries(params)) {
      assert.ok(parameters[key] !== undefined && isAllowed(parameters[key], value), `${id}: ${key}`);
    }
  }
});

test('a form is found by its id, and has the fingerprint of its parameters', () => {
  assert.equal(formFingerprint(knownForm('prime-rl/grpo')), 'grpo(std=none,singleton=zero,over=rows)');
  assert.throws(() => knownForm('unknown/grpo'), /no known form unknown\/grpo/);
});
