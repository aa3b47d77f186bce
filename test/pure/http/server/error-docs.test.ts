import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { test } from 'node:test';
import { ERRORS } from '../../../../src/core/errors.ts';
import { ADVICE, errorsMarkdown } from '../../../../src/http/server/error-docs.ts';

test('docs/reference/errors.md equals the output of node scripts/generate/errors.ts', async () => {
  const file = await readFile(new URL('../../../../docs/reference/errors.md', import.meta.url), 'utf8');
  assert.equal(file, errorsMarkdown());
});

test('docs/reference/errors.md documents each registered error once and no other', () => {
  const documented = [...errorsMarkdown().matchAll(/^## (.+)$/gm)].map(([, code]) => code);
  assert.deepEqual(documented, Object.keys(ERRORS));
  assert.deepEqual(Object.keys(ADVICE).sort(), Object.keys(ERRORS).sort());
});
