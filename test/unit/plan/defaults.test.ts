import assert from 'node:assert/strict';
import { test } from 'node:test';
import { COMMON_DEFAULTS, LOCAL_DEFAULTS, REPLAY_DEFAULTS } from '../../../src/plan/defaults.ts';
import { specProblems } from '../../../src/schemas/validate-spec.ts';

const { cluster: _any, timeoutSeconds: _none, deadline: _never, ...common } = COMMON_DEFAULTS;

test('the defaults of each engine are valid themselves', () => {
  const local = { ...common, ...LOCAL_DEFAULTS, engine: 'local', name: 'x', estimator: { name: 'hgpo' } };
  const replay = { ...common, ...REPLAY_DEFAULTS, engine: 'replay', name: 'x' };
  assert.deepEqual(specProblems(local), []);
  assert.deepEqual(specProblems(replay), []);
});
