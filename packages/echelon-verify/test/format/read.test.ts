import assert from 'node:assert/strict';
import { test } from 'node:test';
import { gzipSync } from 'node:zlib';
import { encodeBatch } from '../../src/format/batch-wire.ts';
import { BatchFormatError } from '../../src/format/format-error.ts';
import { readBatchFile } from '../../src/format/read.ts';
import { sampleFile } from '../sample-batch.ts';

test('JSON and protobuf are recognised, plain and in gzip', () => {
  const json = sampleFile();
  const wire = encodeBatch(readBatchFile(json, 'f')[0]!);
  const marked = Buffer.concat([Buffer.from('\uFEFF \n'), json]);
  for (const bytes of [json, gzipSync(json), wire, gzipSync(wire), marked]) {
    assert.equal(readBatchFile(bytes, 'f')[0]?.name, 'two');
  }
});

test('anything else is refused in words', () => {
  for (const text of ['', 'group,trajectory', '\u0000\u0001']) {
    assert.throws(
      () => readBatchFile(Buffer.from(text), 'x.csv'),
      (error) => {
        assert.ok(error instanceof BatchFormatError && error.code === 'unreadable');
        assert.match(
          error.message,
          /x.csv: expected echelon-batch\/1, \/2 or \/3, as JSON or protobuf, plain or in gzip/,
        );
        return true;
      },
    );
  }
});

test('a bomb is refused by its start, JSON by its own limit, and UTF-16 is named', () => {
  const zeros = gzipSync(Buffer.alloc(50_000_000));
  assert.throws(() => readBatchFile(zeros, 'f'), /found something else in gzip/);
  const blanks = gzipSync(Buffer.concat([Buffer.from('{'), Buffer.alloc(270_000_000, ' ')]), { level: 1 });
  assert.throws(() => readBatchFile(blanks, 'f'), /at most 256 MiB after unpacking/);
  assert.throws(() => readBatchFile(gzipSync('  '), 'f'), /an empty file|JSON/);
  assert.throws(() => readBatchFile(Buffer.from('\uFEFF{}', 'utf16le'), 'f'), /UTF-16 text/);
});
