import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { test } from 'node:test';

test('the bench prints its figures as JSON, with the machine and the spread', () => {
  const bench = new URL('../../../../test/bench/main.ts', import.meta.url).pathname;
  const args = [bench, 'kernel', '--steps', '2000', '--history', '1', '--rounds', '1', '--json'];
  const report = JSON.parse(execFileSync(process.execPath, args, { encoding: 'utf8' })) as Record<
    string,
    unknown
  >;
  assert.deepEqual([report.steps, report.historyLength, report.mode], [2000, 1, 'mean_std_norm']);
  for (const key of ['nsPerStep', 'spread', 'scaling', 'twoThreads', 'breakdown', 'machine', 'date']) {
    assert.ok(key in report, key);
  }
});
