import assert from 'node:assert/strict';
import { test } from 'node:test';
import { MAX_FILE_BYTES, MAX_FILES } from '../../../src/core/launch-plan.ts';
import { validateSpec } from '../../../src/engines/validate-spec.ts';
import { resolveSpec } from '../../../src/plan/resolve-spec.ts';

const withFiles = (count: number, bytes: number) => {
  const files = Object.fromEntries(Array.from({ length: count }, (_, at) => [`${at}.py`, '#'.repeat(bytes)]));
  const spec = validateSpec({ engine: 'command', name: 'x', command: ['true'], files });
  return resolveSpec(spec, { customCode: true });
};

test('a spec holds as many files and bytes as stated, and no more', () => {
  withFiles(MAX_FILES, 1);
  withFiles(2, MAX_FILE_BYTES / 2);
  assert.throws(() => withFiles(MAX_FILES + 1, 1), { code: 'invalid-spec' });
  assert.throws(() => withFiles(2, MAX_FILE_BYTES / 2 + 1), { code: 'invalid-spec' });
});
