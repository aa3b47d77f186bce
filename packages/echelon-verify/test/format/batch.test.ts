import assert from 'node:assert/strict';
import { test } from 'node:test';
import { batchFingerprint, missingColumn, stepColumns } from '../../src/format/batch.ts';
import { readBatches } from '../../src/format/read-batch.ts';
import { sampleFile } from '../sample-batch.ts';
import { restated } from '../support/stated.ts';

const read = (changes = {}) => readBatches(sampleFile(changes), 'f')[0]!;

test('the kernel sees rows, groups, trajectories and observations', () => {
  const { rows, group, trajectory, observation } = stepColumns(read());
  assert.equal(rows, 4);
  assert.deepEqual(
    [group, trajectory, observation].map((ids) => Array.from(ids).join('')),
    ['0000', '0011', '0101'],
  );
});

test('a batch without observations says which column is missing', () => {
  assert.throws(
    () => stepColumns(read({ observation: undefined })),
    /batch two, field observation: expected this column/,
  );
});

test('the fingerprint is that of the stated estimator', () => {
  const { estimator } = read();
  assert.equal(
    batchFingerprint(estimator),
    'hgpo(K=1,mean_norm,alpha=1,base=off,eps=1e-6,singleton=drop,zero=drop,weight=k+2)',
  );
  assert.ok(
    batchFingerprint(restated(read(), { mode: 'mean_std_norm', deviation: 'sample' }).estimator).includes(
      'std=sample',
    ),
  );
});

test('missingColumn names batch and column', () => {
  assert.match(missingColumn({ name: 'b' }, 'reward').message, /batch b, field reward/);
});
