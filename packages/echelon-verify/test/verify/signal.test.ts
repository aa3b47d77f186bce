import assert from 'node:assert/strict';
import { test } from 'node:test';
import { namesOf } from '../../src/dumps/dump-batch.ts';
import { addSignal, NO_SIGNAL, signalFindings, signalOf, zeroFindings } from '../../src/verify/signal.ts';

const step = (groups: string, reward: number[], advantage?: number[]) => ({
  name: 's',
  file: 'f',
  group: namesOf([...groups]),
  reward: Float64Array.from(reward),
  ...(advantage === undefined ? {} : { advantage: Float64Array.from(advantage) }),
  findings: [],
});

test('groups without signal are counted by reason', () => {
  const { groups, single, allLowest, allHighest, allEqual, rowsWithSignal, advantages } = signalOf(
    step('aabbccdee', [0, 0, 1, 1, 0.5, 0.5, 1, 0, 1]),
  );
  assert.deepEqual(
    [groups, single, allLowest, allHighest, allEqual, rowsWithSignal, advantages],
    [5, 1, 1, 1, 1, 2, 0],
  );
});

test('one success among eight carries the signal of three and a half rows', () => {
  assert.equal(signalOf(step('aaaaaaaa', [1, 0, 0, 0, 0, 0, 0, 0])).effectiveRows, 3.5);
  assert.equal(signalOf(step('aa', [1, 0])).effectiveRows, 2);
});

test('clipped, large and flipped advantages are counted', () => {
  const { clipped, large, flipped, advantages } = signalOf(
    step('aaaabb', [0, 5, 9, 2, 1, 0], [-1, 12, 12, -1, -3, 3]),
  );
  assert.deepEqual([clipped, large, flipped, advantages], [4, 2, 2, 6]);
  const plain = signalOf(step('aaa', [0, 0, 1], [-0.5, -0.5, 1]));
  assert.deepEqual([plain.clipped, plain.large, plain.flipped], [0, 0, 0]);
});

test('counts add up', () => {
  const one = signalOf(step('aa', [1, 0]));
  assert.deepEqual(addSignal(addSignal(NO_SIGNAL, one), one).rows, 4);
});

test('a group of zeros with different rewards is an error', () => {
  const [found] = zeroFindings(step('aabb', [1, 0, 1, 0], [0, 0, 1, -1]));
  assert.deepEqual([found?.code, found?.rows], ['zero-with-spread', [0, 1]]);
  assert.deepEqual(zeroFindings(step('aa', [1, 1], [0, 0])), []);
  assert.deepEqual(zeroFindings(step('aa', [1, 0])), []);
});

/** Codes of the findings of a step of eight rows in two groups. */
function codesOf(
  reward: number[],
  {
    advantage,
    lengths,
    isVerified = false,
  }: { advantage?: number[]; lengths?: number[]; isVerified?: boolean } = {},
): string[] {
  const own = {
    ...step('aaaabbbb', reward, advantage),
    ...(lengths === undefined ? {} : { responseLength: Int32Array.from(lengths) }),
  };
  return signalFindings(own, signalOf(own), isVerified).map(({ code }) => code);
}

test('a step without a signal, flipped signs and failed rollouts are findings, and a healthy step has none', () => {
  const reward = [1, 0, 0, 1, 0, 1, 1, 0];
  const advantage = reward.map((one) => one - 0.5);
  const lengths = [30, 20, 9, 12, 40, 2, 3, 1];
  assert.deepEqual(codesOf(reward, { advantage, lengths }), ['rollouts-failed']);
  assert.deepEqual(codesOf(reward, { advantage, lengths: lengths.map((one) => one + 1) }), []);
  assert.deepEqual(codesOf([1, 1, 1, 1, 0, 0, 0, 0]), ['no-signal']);
  const flipped = advantage.map((one, row) => (row < 2 ? -one : one));
  assert.deepEqual(codesOf(reward, { advantage: flipped }), ['signs-flipped']);
  assert.deepEqual(codesOf(reward, { advantage: flipped, isVerified: true }), []);
  // Answers of one token are no failure if all are.
  assert.deepEqual(codesOf(reward, { lengths: lengths.map(() => 1) }), []);
});
