import assert from 'node:assert/strict';
import { test } from 'node:test';
import { COMMON_DEFAULTS } from '../../../../src/engines/common-defaults.ts';
import { PROMPT_DEFAULTS } from '../../../../src/engines/prompt/defaults.ts';
import { specProblems } from '../../../../src/engines/validate-spec.ts';

const { cluster: _any, timeoutSeconds: _none, deadline: _never, ...common } = COMMON_DEFAULTS;

test('the defaults of the prompt engine are a valid spec', () => {
  const model = { ...PROMPT_DEFAULTS.model, baseUrl: 'http://h:8000/v1', name: 'm' };
  assert.deepEqual(specProblems({ ...common, ...PROMPT_DEFAULTS, model, engine: 'prompt', name: 'x' }), []);
});
