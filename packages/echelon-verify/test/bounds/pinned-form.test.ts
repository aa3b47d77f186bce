import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readBatchFile } from '../../src/format/read.ts';
import { verifyBatch } from '../../src/verify/verify-batch.ts';

const f = Math.fround;

/** TRL's advantages of a group, operation by operation in float32: a mean, then a deviation about it. */
function advantagesOf(scores: readonly number[]): number[] {
  const sum = (values: readonly number[]) => values.reduce((total, value) => f(total + value), 0);
  const mean = f(sum(scores) / scores.length);
  const squares = scores.map((score) => f(f(score - mean) ** 2));
  const correction = f(scores.length / (scores.length - 1));
  const deviation = f(Math.sqrt(f(f(sum(squares) / scores.length) * correction)));
  return scores.map((score) => f(f(score - mean) / f(deviation + f(1e-4))));
}

function wrongRows(forms: string | undefined, factor: number): number {
  let random = 7;
  const next = () => {
    random = (random * 16807) % 2147483647;
    return random / 2147483647;
  };
  const groups = Array.from({ length: 32 }, () => Array.from({ length: 8 }, () => f(5 + 0.01 * next())));
  const params = { epsilon: 1e-4, singleton: 'zero', missing: 'exclude', ...(forms && { forms }) };
  const batch = {
    params: { estimator: 'grpo', ...params },
    group: groups.flatMap((own, group) => own.map(() => `${group}`)),
    trajectory: groups.flat().map((_, row) => row),
    tokenLevelRewardSum: groups.flat(),
    reported: { advantage: groups.flatMap((own) => advantagesOf(own).map((value) => f(factor * value))) },
  };
  const [read] = readBatchFile(
    new TextEncoder().encode(JSON.stringify({ format: 'echelon-batch/1', batches: [batch] })),
    'test.json',
  );
  return verifyBatch(read!).wrong;
}

test('a pinned form finds halved advantages of rewards with a large mean, and no right one is wrong', () => {
  assert.equal(wrongRows('recipe', 1), 0);
  assert.ok(wrongRows('recipe', 0.5) > 250);
  assert.ok(wrongRows(undefined, 0.5) < 200);
});
