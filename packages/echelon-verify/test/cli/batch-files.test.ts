import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { BatchFileError, orUnreadable, readBatchesOf, readBatchOf } from '../../src/cli/batch-files.ts';
import { captured } from '../support/captured.ts';

const SMALL = 'test/golden/hgpo.json';
const LARGE = 'test/golden/hgpo-large.json.gz';

describe('batch files', () => {
  test('reads all batches, one by name, or the only one', async () => {
    assert.equal((await readBatchesOf(SMALL)).length, 45);
    assert.equal((await readBatchOf(SMALL, 'penalties')).name, 'penalties');
    assert.equal((await readBatchOf(LARGE, undefined)).name, 'alfworld-scale');
  });

  test('says which batches there are, or which was meant', async () => {
    await assert.rejects(readBatchOf(SMALL, undefined), /holds 45 batches\. Choose one with --batch/);
    await assert.rejects(readBatchOf(SMALL, 'penalty'), /has no batch "penalty"/);
    await assert.rejects(readBatchOf(SMALL, 'penaltys'), BatchFileError);
  });

  test('names a file that is no batch file or not there', async () => {
    await assert.rejects(readBatchesOf('package.json'), /package\.json.*expected/);
    await assert.rejects(readBatchesOf('test/golden/none.json'), /no such file/);
    await assert.rejects(readBatchesOf('test'), /expected a file or a pipe, found a directory/);
  });

  test('what cannot be read becomes a sentence and status 2; a fault of ours does not', async () => {
    const streams = captured();
    const status = await orUnreadable(streams.io, () => Promise.reject(new BatchFileError('x: no\u0007')));
    assert.equal(status, 2);
    assert.ok(streams.err().startsWith('x: no') && !streams.err().includes('\u0007'));
    await assert.rejects(
      orUnreadable(streams.io, () => Promise.reject(new TypeError('ours'))),
      /ours/,
    );
    assert.equal(await orUnreadable(streams.io, () => Promise.reject(new RangeError('too large'))), 2);
    assert.equal(await orUnreadable(streams.io, () => Promise.resolve(0)), 0);
  });
});
