import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fuzzApi } from '../../support/schemathesis.ts';

test('over 10,000 requests, a fuzzer that reads the document finds nothing', async (t) => {
  const { ok, cases, report } = await fuzzApi(t, {
    examples: 60,
    seed: 20260102,
    phases: 'coverage,fuzzing,stateful',
  });
  assert.ok(ok, report);
  assert.ok(cases >= 10_000, `${cases} requests`);
  t.diagnostic(`${cases} requests`);
});
