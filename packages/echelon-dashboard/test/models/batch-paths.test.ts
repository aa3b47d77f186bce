import assert from 'node:assert/strict';
import { test } from 'node:test';
import { batchHref, batchPathOf, sameStateHref, trajectoryHref } from '../../src/models/batch-paths.ts';
import { matchPath } from '../../src/models/paths.ts';

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
