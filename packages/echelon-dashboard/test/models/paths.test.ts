import assert from 'node:assert/strict';
import { test } from 'node:test';
import { matchPath, withQuery } from '../../src/models/paths.ts';

test('a path that fits the pattern gives its parameters, decoded', () => {
  assert.deepEqual(matchPath('/experiments/:id', '/experiments/a%20b'), { id: 'a b' });
  assert.deepEqual(matchPath('/', '/'), {});
  assert.deepEqual(matchPath('/x/:id', '/x/%'), { id: '%' });
});

test('a path of another length or with other words does not fit', () => {
  assert.equal(matchPath('/experiments/:id', '/experiments'), undefined);
  assert.equal(matchPath('/experiments/:id', '/sweeps/a'), undefined);
});

test('a query repeats lists and omits empty values', () => {
  assert.equal(withQuery('/x', { a: ['1', '2'], b: '', c: undefined, d: 'e f' }), '/x?a=1&a=2&d=e+f');
  assert.equal(withQuery('/x', {}), '/x');
});
