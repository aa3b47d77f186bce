import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { test } from 'node:test';
import { COMMON_DEFAULTS } from '../../../src/engines/common-defaults.ts';
import type { MemorySettings } from '../../../src/engines/engine.ts';
import { allEngines, engineOf, findEngine, fingerprintOf } from '../../../src/engines/registry.ts';
import { specProblems, validateSpec } from '../../../src/engines/validate-spec.ts';
import { compilePlan } from '../../../src/plan/compile-plan.ts';
import { resolveSpec } from '../../../src/plan/resolve-spec.ts';
import { commonFields } from '../../../src/schemas/spec-parts.ts';

interface Node {
  type?: string;
  properties?: Record<string, Node>;
  required?: string[];
  additionalProperties?: boolean;
  maximum?: number;
  pattern?: string;
  enum?: unknown[];
  const?: unknown;
  anyOf?: Node[];
  default?: unknown;
}

function walk(node: Node, at: string, visit: (node: Node, at: string) => void): void {
  visit(node, at);
  for (const [key, inner] of Object.entries(node.properties ?? {})) walk(inner, `${at}/${key}`, visit);
  for (const inner of node.anyOf ?? []) walk(inner, at, visit);
}

test('the schema of every engine has closed objects, bounded numbers and texts, and no defaults', () => {
  for (const { schema } of allEngines()) {
    walk(schema as Node, '', (node, at) => {
      assert.equal(node.default, undefined, at);
      if (node.type === 'object') assert.equal(node.additionalProperties, false, at);
      if (node.const !== undefined || node.enum !== undefined) return;
      if (node.type === 'integer' || node.type === 'number') assert.ok(node.maximum !== undefined, at);
      if (node.type === 'string') assert.ok(node.pattern !== undefined, at);
    });
  }
});

test('every engine has its own schema with its name and the common fields', () => {
  for (const { name, schema } of allEngines()) {
    const { properties = {}, required } = schema as Node;
    assert.equal(properties.engine?.const, name);
    for (const key of ['name', 'engine']) assert.ok(required?.includes(key), `${name} ${key}`);
    // An engine without GPUs fixes the values of two resources.
    const { resources, ...common } = commonFields;
    assert.deepEqual(Object.keys(properties.resources?.properties ?? {}), Object.keys(resources.properties));
    for (const [field, type] of Object.entries(common)) assert.deepEqual(properties[field], type, field);
  }
});

test('the example of every engine is valid, and its resolved form always compiles to the same plan', () => {
  for (const engine of allEngines()) {
    const { spec } = resolveSpec(validateSpec(engine.example), { customCode: true });
    assert.deepEqual(compilePlan(spec), compilePlan(structuredClone(spec)));
    assert.equal(fingerprintOf(spec), engine.fingerprint(spec));
  }
});

test('the resolved example of every engine is a valid spec, apart from values that are null', () => {
  for (const engine of allEngines()) {
    const { spec } = resolveSpec(engine.example, { customCode: true });
    const stated = JSON.parse(JSON.stringify(spec, (_key, value) => value ?? undefined));
    assert.deepEqual(specProblems(stated), [], engine.name);
  }
});

test('every setting that an engine names is a field of its spec', () => {
  for (const { name, schema, memory = {}, sizeSettings = [] } of allEngines()) {
    const named = Object.values(memory).flatMap(({ lower, set }: MemorySettings) => [
      ...lower,
      ...(set?.pointers ?? []),
    ]);
    for (const pointer of [...named, ...sizeSettings]) {
      const found = pointer
        .slice(1)
        .split('/')
        .reduce<Node | undefined>((node, key) => node?.properties?.[key], schema as Node);
      assert.ok(found, `${name} has no ${pointer}`);
    }
  }
});

test('an unknown engine is refused with the known ones and the nearest name', () => {
  const known = allEngines().map(({ name }) => name);
  assert.ok(known.includes('local') && known.includes('verl-agent'));
  assert.throws(() => engineOf('replya'), {
    code: 'invalid-spec',
    message: new RegExp(`must be ${known.join(' or ')}, but "replya" came; did you mean replay\\?`),
  });
  for (const name of ['constructor', '__proto__', '', undefined, 1])
    assert.equal(findEngine(name), undefined);
});

test('every engine has a well-formed name, and shares its name and the id of its schema with no other', () => {
  const engines = allEngines();
  for (const { name } of engines) assert.match(name, /^[a-z][a-z0-9]*(-[a-z0-9]+)*$/);
  for (const keys of [engines.map(({ name }) => name), engines.map(({ schema }) => schema.$id)]) {
    assert.ok(!keys.includes(undefined));
    assert.equal(new Set(keys).size, keys.length);
  }
});

test('no module outside src/engines compares the engine of a spec', () => {
  const names = allEngines().map(({ name }) => name);
  const comparison = new RegExp(`\\.engine\\s*[!=]==|case '(${names.join('|')})'`);
  const asking = globSync('src/**/*.ts', { exclude: ['src/engines/**'] }).filter((file) =>
    comparison.test(readFileSync(file, 'utf8')),
  );
  assert.deepEqual(asking, []);
});

test('every common field has a default, except the name and the resources, which depend on the engine', () => {
  const expected = Object.keys(commonFields).filter((field) => field !== 'name' && field !== 'resources');
  assert.deepEqual(Object.keys(COMMON_DEFAULTS).sort(), expected.sort());
});
