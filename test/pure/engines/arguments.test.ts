import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { assignment } from '../../../src/engines/arguments.ts';

test('assignment writes words, numbers, booleans and placeholders', () => {
  assert.equal(assignment('a.b_c', 'mean_std_norm'), 'a.b_c=mean_std_norm');
  assert.equal(assignment('a', 0.1), 'a=0.1');
  assert.equal(assignment('a', 1e-7), 'a=1e-7');
  assert.equal(assignment('a', true), 'a=true');
  assert.equal(assignment('dir', '{experimentDir}'), 'dir={experimentDir}');
});

test('assignment refuses a value with an override, an interpolation, an option or a shell character', () => {
  const values = [
    'a b',
    'a=1',
    '$(id)',
    ['$', '{oc.env:HOME}'].join(''),
    '--x',
    '-',
    'a\nb',
    '\0',
    '[1]',
    '{other}',
    '',
    'a;b',
    '`id`',
    '../x',
  ];
  for (const value of values) assert.throws(() => assignment('key', value), TypeError, JSON.stringify(value));
  for (const value of [Number.NaN, Number.POSITIVE_INFINITY]) {
    assert.throws(() => assignment('key', value), TypeError);
  }
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), (value) => {
      try {
        const written = assignment('key', value);
        assert.match(written, /^key=(?:[A-Za-z0-9_][A-Za-z0-9_-]*|\{\w+\})$/);
      } catch (error) {
        assert.ok(error instanceof TypeError);
      }
    }),
  );
});

test('assignment refuses an invalid key', () => {
  for (const key of ['', 'A', '+a', '~a', 'a..b', 'a=', 'hydra/launcher', '_a']) {
    assert.throws(() => assignment(key, 1), TypeError, key);
  }
});
