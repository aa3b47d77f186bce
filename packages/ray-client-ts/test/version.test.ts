import assert from 'node:assert/strict';
import { test } from 'node:test';
import { RayVersionError } from '../src/errors.ts';
import { judgeVersion } from '../src/version.ts';

test('tested versions give no warning', () => {
  for (const version of ['2.41.0', '2.46.0', '2.60.0', '2.60.1rc1']) {
    assert.equal(judgeVersion(version).warning, undefined, version);
  }
});

test('others do', () => {
  for (const version of ['2.9.3', '2.40.0', '2.61.0', '3.0.0.dev0']) {
    assert.match(judgeVersion(version).warning ?? '', /outside the tested range 2\.41 to 2\.60/, version);
  }
});

test('chunks may be repeated from 2.60 on', () => {
  assert.equal(judgeVersion('2.59.1').forgivesRepeatedChunks, false);
  assert.equal(judgeVersion('2.60.0').forgivesRepeatedChunks, true);
  assert.equal(judgeVersion('3.0.0').forgivesRepeatedChunks, true);
});

test('what is too old, or no version, is refused', () => {
  for (const version of ['1.13.0', '', 'nightly']) {
    assert.throws(
      () => judgeVersion(version),
      (error) => error instanceof RayVersionError && error.rayVersion === version,
    );
  }
});
