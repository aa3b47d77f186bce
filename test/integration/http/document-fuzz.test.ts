import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fuzzApi } from '../../support/schemathesis.ts';

test('a fuzzer that reads the document finds no fault and no answer that it does not allow', async (t) => {
  const { ok, cases, report } = await fuzzApi(t, { examples: 8, seed: 20260101, phases: 'fuzzing' });
  assert.ok(ok, report);
  t.diagnostic(`${cases} requests`);
});
