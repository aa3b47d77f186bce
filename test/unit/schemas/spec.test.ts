import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { TSchema } from 'typebox';
import { REPLAY_FAULTS, SPEC_BY_ENGINE } from '../../../src/schemas/spec.ts';

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

test('every object is closed, every number and text bounded, and no value is defaulted while validating', () => {
  for (const schema of Object.values<TSchema>(SPEC_BY_ENGINE)) {
    walk(schema as Node, '', (node, at) => {
      assert.equal(node.default, undefined, at);
      if (node.type === 'object') assert.equal(node.additionalProperties, false, at);
      if (node.type === 'integer' || node.type === 'number') assert.ok(node.maximum !== undefined, at);
      if (node.type === 'string' && node.const === undefined && node.enum === undefined) {
        assert.ok(node.pattern !== undefined, at);
      }
    });
  }
});

test('each engine has its own schema, which says so', () => {
  for (const [engine, schema] of Object.entries<TSchema>(SPEC_BY_ENGINE)) {
    const node = schema as Node;
    assert.equal(node.properties?.engine?.const, engine);
    for (const key of ['name', 'engine']) assert.ok(node.required?.includes(key), `${engine} ${key}`);
  }
  assert.ok(REPLAY_FAULTS.includes('none'));
});
