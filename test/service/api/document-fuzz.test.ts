import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fuzzApi } from '../../support/schemathesis.ts';

test('a fuzzer of the OpenAPI document finds no server error and no undocumented answer', async (t) => {
  const { ok, cases, report } = await fuzzApi(t, { examples: 8, seed: 20260101, phases: 'fuzzing' });
  assert.ok(ok, report);
  t.diagnostic(`${cases} requests`);
});
