import assert from 'node:assert/strict';
import { test } from 'node:test';
import { placeProblem, segmentsOf, toPointer, written } from '../../../src/plan/pointer.ts';

test('toPointer converts a dotted path to a JSON pointer and returns a pointer unchanged', () => {
  assert.equal(toPointer('training.seed'), '/training/seed');
  assert.equal(toPointer('/a~1b/c'), '/a~1b/c');
  assert.deepEqual(segmentsOf(toPointer('a/b.c~d')), ['a/b', 'c~d']);
});

test('written makes a spec with a value at its pointer, creates missing objects and copies only those on the way', () => {
  const spec = { training: { seed: 1 }, env: { A: 'a' } };
  const made = written(written(spec, '/training/steps', 5), '/estimator/name', 'hgpo');
  assert.deepEqual(made, {
    training: { seed: 1, steps: 5 },
    env: { A: 'a' },
    estimator: { name: 'hgpo' },
  });
  assert.deepEqual(spec, { training: { seed: 1 }, env: { A: 'a' } });
  assert.equal(made.env, spec.env);
});

test('placeProblem refuses an empty pointer, a pointer below a scalar, and a pointer to a prototype', () => {
  assert.equal(placeProblem({ a: { b: 1 } }, '/a/c'), undefined);
  assert.match(placeProblem({ a: 1 }, '/a/c')!, /a is no object there/);
  for (const pointer of ['/', '/a/', '/__proto__/x', '/constructor', `/${'a/'.repeat(16)}a`])
    assert.match(placeProblem({}, pointer)!, /is not a path in a spec/);
});
