import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { counted, nounOf, plural } from '../src/plural.ts';

describe('plural', () => {
  it('only the number 1 has the singular', () => {
    assert.equal(plural(1, 'row'), '1 row');
    assert.equal(plural(0, 'row'), '0 rows');
    assert.equal(plural(0.5, 'GPU'), '0.5 GPUs');
    assert.equal(nounOf(2, 'child', 'children'), 'children');
  });

  it('a noun with an irregular plural has the plural that the caller gives', () => {
    assert.equal(plural(1, 'child', 'children'), '1 child');
    assert.equal(counted(2, 'trajectory', 'trajectories'), '2 trajectories');
  });

  it('counted separates thousands, plural does not', () => {
    assert.equal(counted(1234, 'row'), '1,234 rows');
    assert.equal(plural(1234, 'row'), '1234 rows');
  });
});
