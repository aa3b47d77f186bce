import assert from 'node:assert/strict';
import { test } from 'node:test';
import { merge, missingFrom, valueAt } from '../../../src/core/trees.ts';

test('merging goes to any depth, takes arrays whole and changes nothing', () => {
  const defaults = { a: { b: 1, c: [1, 2] }, d: null };
  assert.deepEqual(merge(defaults, { a: { c: [3] }, e: 0 }), { a: { b: 1, c: [3] }, d: null, e: 0 });
  assert.deepEqual(defaults, { a: { b: 1, c: [1, 2] }, d: null });
});

test('a tree made from defaults can be changed without changing the defaults', () => {
  const defaults = { list: [{ a: [1] }], tree: { b: { c: 1 } } };
  const merged = merge(defaults, {}) as { list: { a: number[] }[]; tree: { b: { c: number } } };
  merged.list[0]!.a.push(2);
  merged.tree.b.c = 2;
  assert.deepEqual(defaults, { list: [{ a: [1] }], tree: { b: { c: 1 } } });
});

test('names what was not given', () => {
  assert.deepEqual(missingFrom({ a: { b: 1 } }, { a: { b: 1, c: [1] }, d: null }), ['/a/c', '/d']);
});

test('reads own keys alone', () => {
  assert.equal(valueAt({ a: { b: 0 } }, 'a.b'), 0);
  assert.equal(valueAt({ a: 1 }, 'a.b'), undefined);
  assert.equal(valueAt({}, 'constructor.name'), undefined);
});
