import assert from 'node:assert/strict';
import { test } from 'node:test';
import { newExperimentId } from '../../../../src/core/ids.ts';
import {
  archiveUnavailable,
  checkBytes,
  checkOwner,
  checkPlace,
  digestOf,
  intact,
} from '../../../../src/store/archive/archive-keys.ts';
import { coded } from '../../../support/store.ts';

const bytes = Buffer.from('bytes');

test('a name is the digest of what it names', () => {
  checkPlace(newExperimentId(), digestOf(bytes));
  checkBytes(digestOf(bytes), bytes);
  assert.equal(intact(digestOf(bytes), bytes), bytes);
  assert.throws(() => checkBytes(digestOf(bytes), Buffer.from('other')), coded('internal'));
  assert.throws(() => intact(digestOf(bytes), Buffer.from('other')), coded('not-found'));
});

test('no owner leads out of the archive', () => {
  for (const owner of ['', '.', '..', 'a/b', 'a\\b', 'exp a', 'EXP-A', 'exp\0']) {
    assert.throws(() => checkOwner(owner), coded('not-found'));
  }
});

test('a failure of the directory or bucket is store-unavailable', () => {
  const fault = archiveUnavailable(new Error('EIO'));
  assert.deepEqual([fault.code, fault.retry], ['store-unavailable', true]);
});
