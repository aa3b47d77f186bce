import assert from 'node:assert/strict';
import { test } from 'node:test';
import { SCREENS } from '../../src/app/screen-paths.ts';
import {
  batchHref,
  batchPathOf,
  matchPath,
  sameStateHref,
  trajectoryHref,
  withQuery,
} from '../../src/models/paths.ts';

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

const PATH = { id: 'exp-1', attempt: 2, batch: 7 };

test('a link to a batch holds its row, and its path reads back', () => {
  assert.equal(batchHref(PATH, 0), '/experiments/exp-1/batches/2/7?row=0');
  const params = matchPath('/experiments/:id/batches/:attempt/:batch', batchHref(PATH))!;
  assert.deepEqual(batchPathOf(params), PATH);
});

test('links to a trajectory and a state encode their names', () => {
  assert.equal(
    trajectoryHref(PATH, 'a&b/c', 3),
    '/experiments/exp-1/batches/2/7/trajectory?name=a%26b%2Fc&step=3',
  );
  assert.equal(sameStateHref(PATH, 0), '/experiments/exp-1/batches/2/7/same-state?row=0');
});

test('no screen has a path of the API, of its documents or of the board', () => {
  for (const taken of ['v1', 'docs', 'queues', 'login', 'logout', 'errors', 'assets', 'healthz', 'readyz'])
    assert.ok(!(SCREENS as readonly string[]).includes(taken), taken);
});
