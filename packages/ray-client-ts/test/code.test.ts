import assert from 'node:assert/strict';
import { test } from 'node:test';
import { actorClass, functionRef, sourceActorClass, sourceFunction } from '../src/code.ts';

test('a reference is the pickled global', () => {
  const fn = functionRef('stockmod:add');
  assert.equal(Buffer.from(fn.pickle).toString('hex'), '80048c0873746f636b6d6f648c03616464932e');
  assert.deepEqual([fn.kind, fn.label], ['function', 'stockmod:add']);
  assert.equal(actorClass('a.b:C.D').kind, 'class');
});

test('source text carries its own code', () => {
  assert.match(
    Buffer.from(sourceFunction('def f(): pass', 'f').pickle).toString('latin1'),
    /def f\(\): pass/,
  );
  assert.equal(sourceActorClass('class A: pass', 'A').label, 'A');
});

test('what names no code is refused', () => {
  for (const text of ['', 'module', 'module.fn', ':f', 'm:', 'm:f g', 'm-n:f', 'm:f()']) {
    assert.throws(() => functionRef(text), TypeError, text);
  }
  assert.throws(() => sourceFunction('x = 1', 'not a name'), TypeError);
});
