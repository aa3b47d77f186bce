import assert from 'node:assert/strict';
import { test } from 'node:test';
import { FINDINGS } from 'echelon-verify/provenance/findings';
import { ERROR_CODES } from '../../../src/schemas/rules.ts';

test('a rule can name every error finding', () => {
  const errors = Object.entries(FINDINGS).filter(([, { severity }]) => severity === 'error');
  const codes = errors.map(([code]) => code);
  // not-verifiable is the finding of a batch that could not be read at all.
  assert.deepEqual([...ERROR_CODES].sort(), ['any', 'not-verifiable', ...codes].sort());
});
