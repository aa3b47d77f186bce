import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sizeFrom, sizeInWords } from '../../../src/cli/size.ts';

test('a size is shown in powers of 1,000, and read in the same units', () => {
  assert.deepEqual([0, 999, 1000, 1_540_000_000].map(sizeInWords), ['0 B', '999 B', '1.0 kB', '1.5 GB']);
  assert.deepEqual(['0', '800MB', '1.5 GB', '7kB'].map(sizeFrom), [0, 800e6, 1.5e9, 7000]);
  for (const text of ['', 'much', '-1', '5 XB', '1e3', '5mb']) assert.throws(() => sizeFrom(text), /800MB/);
});
