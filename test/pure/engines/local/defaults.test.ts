import assert from 'node:assert/strict';
import { test } from 'node:test';
import { COMMON_DEFAULTS } from '../../../../src/engines/common-defaults.ts';
import { LOCAL_DEFAULTS } from '../../../../src/engines/local/defaults.ts';
import { specProblems } from '../../../../src/engines/validate-spec.ts';

const { cluster: _any, timeoutSeconds: _none, deadline: _never, ...common } = COMMON_DEFAULTS;

test('the defaults of the local engine are a valid spec', () => {
  const spec = { ...common, ...LOCAL_DEFAULTS, engine: 'local', name: 'x', estimator: { name: 'hgpo' } };
  assert.deepEqual(specProblems(spec), []);
});
