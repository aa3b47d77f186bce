import assert from 'node:assert/strict';
import { test } from 'node:test';
import { allEngines, type ResolvedSpec } from '../../../src/engines/registry.ts';
import { compilePlan } from '../../../src/plan/compile-plan.ts';
import { previewPlan } from '../../../src/plan/preview.ts';
import { resolveSpec } from '../../../src/plan/resolve-spec.ts';

test('the plan of every engine names its module and takes the common fields from the spec', () => {
  for (const { name, example } of allEngines()) {
    const spec = { ...example, gracePeriodSeconds: 1.5, secrets: { A_TOKEN: 'a-token' } };
    const { spec: resolved } = resolveSpec(spec, { customCode: true });
    const plan = compilePlan(resolved);
    assert.equal(plan.engine, name);
    assert.equal(plan.module, `echelon_rayworker.engines.${name.replaceAll('-', '_')}`);
    assert.equal(plan.gracePeriodMs, 1500);
    assert.deepEqual([plan.gpus, plan.cpus], [resolved.resources.gpus, resolved.resources.cpus]);
    assert.deepEqual(plan.secrets, { A_TOKEN: 'a-token' });
    assert.deepEqual(plan.environment, {});
    const { name: _name, ...settings } = resolved;
    assert.deepEqual(JSON.parse(String(plan.files['spec.json'])).spec, settings);
  }
});

test('a spec of an unknown engine is refused with its name', () => {
  const spec = { engine: 'gone', name: 'x' } as unknown as ResolvedSpec['spec'];
  assert.throws(() => compilePlan(spec), { code: 'invalid-spec', message: /must be local or .*"gone" came/ });
});

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
