import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { encodeBatch } from '../../src/format/batch-wire.ts';
import { readWireHeader } from '../../src/format/wire-header.ts';
import { goldenBatch } from '../support/golden-batches.ts';

test('reads the name and the number of rows', () => {
  assert.deepEqual(readWireHeader(encodeBatch(goldenBatch('alfworld-scale'))), {
    name: 'alfworld-scale',
    rows: 4621,
  });
});

test('gives what it can of anything else, and never throws', () => {
  assert.deepEqual(readWireHeader(new Uint8Array(0)), { name: '', rows: 0 });
  fc.assert(
    fc.property(fc.uint8Array(), (bytes) => {
      const { name, rows } = readWireHeader(bytes);
      assert.ok(typeof name === 'string' && Number.isInteger(rows));
    }),
  );
});
