import assert from 'node:assert/strict';
import { test } from 'node:test';
import { gzipSync } from 'node:zlib';
import { BatchFormatError } from '../../src/format/format-error.ts';
import { inflate, inflateStart, isGzip } from '../../src/format/inflate.ts';

test('unpacks what is gzip', () => {
  const packed = gzipSync('hello');
  assert.ok(isGzip(packed) && !isGzip(Buffer.from('hello')) && !isGzip(new Uint8Array(0)));
  assert.equal(Buffer.from(inflate(packed, 'f')).toString(), 'hello');
});

test('damaged and cut off files are refused', () => {
  const packed = gzipSync('hello'.repeat(1000));
  const damaged = packed.map((byte, at) => (at > 12 ? byte ^ 0x55 : byte));
  for (const bytes of [packed.subarray(0, 20), damaged]) {
    assert.throws(() => inflate(bytes, 'f.gz'), BatchFormatError);
  }
});

test('a file that unfolds too far is stopped', () => {
  // Gzip members one after another are one file.
  const member = gzipSync(Buffer.alloc(1024 * 1024));
  const bomb = Buffer.concat(Array<Buffer>(10).fill(member));
  assert.throws(() => inflate(bomb, 'f.gz', 4 * 1024 * 1024), /at most 4 MiB after unpacking, found more/);
  assert.equal(inflate(bomb, 'f.gz').length, 10 * 1024 * 1024);
});

test('the start tells what a file holds, also where the rest is missing or damaged', () => {
  const packed = gzipSync(Buffer.alloc(100_000_000, '{ '));
  assert.equal(Buffer.from(inflateStart(packed).subarray(0, 3)).toString(), '{ {');
  assert.ok(inflateStart(packed).length < 10_000_000);
  assert.equal(inflateStart(packed.subarray(0, 5)).length, 0);
  assert.equal(inflateStart(Buffer.from('\x1f\x8bnot at all', 'latin1')).length, 0);
});
