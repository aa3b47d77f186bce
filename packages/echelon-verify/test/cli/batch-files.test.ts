import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { BatchFileError, notChosen, orUnreadable, readBatchesOf } from '../../src/cli/batch-files.ts';
import { captured } from '../support/captured.ts';

const SMALL = 'test/golden/hgpo.json';

describe('batch files', () => {
  test('reads all batches, or one by name', async () => {
    assert.equal((await readBatchesOf(SMALL)).length, 45);
    assert.equal((await readBatchesOf(SMALL, 'penalties'))[0]!.name, 'penalties');
  });

  test('says which batches there are, or which was meant', async () => {
    assert.match(
      notChosen(SMALL, undefined, ['a', 'b']).message,
      /holds 2 batches\. Choose one with --batch/,
    );
    await assert.rejects(readBatchesOf(SMALL, 'penalty'), /has no batch "penalty"/);
    await assert.rejects(readBatchesOf(SMALL, 'penaltys'), BatchFileError);
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
