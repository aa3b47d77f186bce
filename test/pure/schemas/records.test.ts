import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Value } from 'typebox/value';
import { Artifact, BatchReportView } from '../../../src/schemas/records.ts';

test('a batch report may have additional fields, an artifact may not', () => {
  const report = {
    ...{ name: 'x', rows: 1, exact: 1, rounding: 0, wrong: 0, unverifiable: 0, findings: [], ok: true },
    ...{ fingerprint: 'hgpo', levels: [] },
  };
  assert.ok(Value.Check(BatchReportView, report));
  const artifact = { kind: 'checkpoint', step: 1, path: '/x', attempt: 1, at: 5 };
  assert.ok(Value.Check(Artifact, artifact));
  assert.ok(!Value.Check(Artifact, { ...artifact, secret: 1 }));
});
