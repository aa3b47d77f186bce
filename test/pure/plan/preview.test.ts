import assert from 'node:assert/strict';
import { test } from 'node:test';
import { allEngines } from '../../../src/engines/registry.ts';
import { compilePlan } from '../../../src/plan/compile-plan.ts';
import { previewPlan } from '../../../src/plan/preview.ts';
import { resolveSpec } from '../../../src/plan/resolve-spec.ts';

test('the preview of every engine has the launched plan and no failed check', () => {
  for (const { name, example } of allEngines()) {
    const resolved = resolveSpec(example, { customCode: true });
    const preview = previewPlan(resolved);
    assert.deepEqual(preview.plan, compilePlan(resolved.spec), name);
    assert.ok(preview.commandLine.includes(preview.plan.module), name);
    assert.ok(
      preview.checks.every(({ severity }) => severity !== 'error'),
      name,
    );
  }
});

test('the preview of an engine without a script has no changes, corrections or details', () => {
  const { changes, corrections, details } = previewPlan(resolveSpec({ engine: 'replay', name: 'x' }));
  assert.deepEqual({ changes, corrections, details }, { changes: [], corrections: [], details: {} });
});
