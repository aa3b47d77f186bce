import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { ExperimentSpec } from '../../../src/engines/registry.ts';
import { resolveSpec } from '../../../src/plan/resolve-spec.ts';

const LOCAL: ExperimentSpec = { engine: 'local', name: 'x', estimator: { name: 'hgpo' } };

/** The value that a JSON pointer points to; undefined if absent. */
function at(value: unknown, pointer: string): unknown {
  return pointer
    .split('/')
    .slice(1)
    .reduce((inner, key) => (inner as Record<string, unknown> | undefined)?.[key], value);
}

describe('resolveSpec', () => {
  test('resolveSpec retains submitted values at any depth and adds the defaults', () => {
    const spec: ExperimentSpec = {
      ...LOCAL,
      project: 'p',
      rollout: { groupSize: 4 },
      training: { steps: 3, stepDelaySeconds: 0 },
      estimator: { name: 'gigpo', stepAdvantageWeight: 0.5 },
    };
    const { spec: resolved } = resolveSpec(spec);
    assert.equal(resolved.engine, 'local');
    assert.deepEqual(resolved.rollout, { groups: 8, groupSize: 4 });
    assert.equal(resolved.training.steps, 3);
    assert.equal(resolved.project, 'p');
    assert.equal(resolved.cluster, null);
    assert.deepEqual(resolved.estimator, {
      name: 'gigpo',
      mode: 'mean_norm',
      stepAdvantageWeight: 0.5,
      gamma: 0.95,
      invalidActionPenalty: 0.1,
    });
  });

  test('the defaults of a resolved spec are exactly the values that were not submitted', () => {
    for (const spec of [
      LOCAL,
      { engine: 'replay', name: 'x', replay: { hang: false } },
    ] as ExperimentSpec[]) {
      const { spec: resolved, defaults } = resolveSpec(spec);
      for (const pointer of defaults) {
        assert.equal(at(spec, pointer), undefined, pointer);
        assert.notEqual(at(resolved, pointer), undefined, pointer);
      }
      const leaves = (value: unknown, path: string): string[] =>
        value !== null && typeof value === 'object' && !Array.isArray(value)
          ? Object.entries(value).flatMap(([key, inner]) => leaves(inner, `${path}/${key}`))
          : [path];
      const submitted = leaves(resolved, '').filter((pointer) => !defaults.includes(pointer));
      assert.deepEqual(submitted.sort(), leaves(spec, '').sort());
    }
  });

  test('a resolved spec resolves to itself', () => {
    for (const spec of [LOCAL, { engine: 'replay', name: 'x' }] as ExperimentSpec[]) {
      const { cluster: _any, timeoutSeconds: _none, deadline: _never, ...resolved } = resolveSpec(spec).spec;
      const again = resolveSpec(resolved as ExperimentSpec);
      assert.deepEqual(again.spec, { ...resolved, cluster: null, timeoutSeconds: null, deadline: null });
      assert.deepEqual(again.defaults, ['/cluster', '/timeoutSeconds', '/deadline']);
    }
  });

  test('resolveSpec does not change its argument and returns no shared default object', () => {
    const before = structuredClone(LOCAL);
    const first = resolveSpec(LOCAL).spec;
    (first.resources as { cpus: number }).cpus = 99;
    assert.notEqual(resolveSpec(LOCAL).spec.resources.cpus, 99);
    assert.deepEqual(LOCAL, before);
  });

  test('resolveSpec refuses contradictory fields by name', () => {
    const fields = (spec: ExperimentSpec) => {
      try {
        resolveSpec(spec);
      } catch (error) {
        return (error as { problems: { field: string }[] }).problems.map(({ field }) => field);
      }
      return [];
    };
    assert.deepEqual(fields({ ...LOCAL, estimator: { name: 'grpo', gamma: 0.9 } }), ['/estimator/gamma']);
  });
});
