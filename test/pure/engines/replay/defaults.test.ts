import assert from 'node:assert/strict';
import { test } from 'node:test';
import { COMMON_DEFAULTS } from '../../../../src/engines/common-defaults.ts';
import { REPLAY_DEFAULTS } from '../../../../src/engines/replay/defaults.ts';
import { specProblems } from '../../../../src/engines/validate-spec.ts';

const { cluster: _any, timeoutSeconds: _none, deadline: _never, ...common } = COMMON_DEFAULTS;

test('the defaults of the replay engine are a valid spec', () => {
  const spec = { ...common, ...REPLAY_DEFAULTS, engine: 'replay', name: 'x' };
  assert.deepEqual(specProblems(spec), []);
});
