import assert from 'node:assert/strict';
import { test } from 'node:test';
import { namesOf } from '../../../../../src/verify/format/dumps/dump-batch.ts';
import { scorableStep } from '../../../../../src/verify/format/dumps/scorable.ts';

const step = {
  name: 's',
  file: 'f',
  group: namesOf(['a', 'b', 'b']),
  reward: Float64Array.of(0, 1, 2),
  advantage: Float64Array.of(0, -1, 1),
  groupSize: 2,
  findings: [],
};

test('a step that is scored throughout stays as it is', () => {
  assert.equal(scorableStep(step, Uint8Array.of(1, 1, 1)), step);
});

test('unscored rows leave, and their group size is no longer stated', () => {
  const left = scorableStep(step, Uint8Array.of(0, 1, 1));
  assert.deepEqual([...left.group.ids, ...left.reward, ...left.advantage!], [0, 0, 1, 2, -1, 1]);
  assert.deepEqual([left.group.names, left.groupSize, left.rowsInDump], [['b'], undefined, 3]);
  assert.deepEqual(
    left.findings.map(({ code, rows }) => [code, rows]),
    [['rows-unscorable', [0]]],
  );
});

test('an unscored row with an advantage is an error', () => {
  const { findings } = scorableStep(step, Uint8Array.of(1, 0, 1));
  assert.deepEqual(
    findings.map(({ code, rows }) => [code, rows]),
    [['unscorable-rewarded', [1]]],
  );
});
