import assert from 'node:assert/strict';
import { test } from 'node:test';
import { COMMON_DEFAULTS } from '../../../src/engines/common-defaults.ts';
import { commonFields } from '../../../src/schemas/spec-parts.ts';

test('every common field has a default, except the name and the resources, which depend on the engine', () => {
  const expected = Object.keys(commonFields).filter((field) => field !== 'name' && field !== 'resources');
  assert.deepEqual(Object.keys(COMMON_DEFAULTS).sort(), expected.sort());
});
