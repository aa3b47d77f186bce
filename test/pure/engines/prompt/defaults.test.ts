import assert from 'node:assert/strict';
import { test } from 'node:test';
import { COMMON_DEFAULTS } from '../../../../src/engines/common-defaults.ts';
import { evaluationDefaults, PROMPT_DEFAULTS } from '../../../../src/engines/prompt/defaults.ts';
import { specProblems } from '../../../../src/engines/validate-spec.ts';

const { cluster: _any, timeoutSeconds: _none, deadline: _never, ...common } = COMMON_DEFAULTS;

test('the defaults of the prompt engine are a valid spec', () => {
  const model = { ...PROMPT_DEFAULTS.model, baseUrl: 'http://h:8000/v1', name: 'm' };
  for (const name of ['local', 'alfworld', 'webshop'] as const) {
    const all = { ...common, ...PROMPT_DEFAULTS, ...evaluationDefaults(name), model };
    assert.deepEqual(specProblems({ ...all, engine: 'prompt', name: 'x' }), []);
  }
});
