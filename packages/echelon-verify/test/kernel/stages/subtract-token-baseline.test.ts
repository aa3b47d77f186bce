import assert from 'node:assert/strict';
import { test } from 'node:test';
import { BFLOAT16, FLOAT32 } from '../../../src/arithmetic/arithmetic.ts';
import { forEachPlace, type TokenAlignment } from '../../../src/kernel/stages/subtract-token-baseline.ts';
import { boundOne } from '../../support/one-stage.ts';

/** The places of responses of one group, by masks: the tokens at each, and those that get the baseline. */
function places(masks: readonly string[], align: TokenAlignment, zeroTail = true): string[] {
  const lengths = masks.map((mask) => mask.length);
  const offset = Int32Array.of(
    0,
    ...lengths.map((_, row) => lengths.slice(0, row + 1).reduce((a, b) => a + b)),
  );
  const mask = Uint8Array.from(masks.join(''), Number);
  const found: string[] = [];
  forEachPlace(
    { align, zeroTail },
    { offset, mask, group: new Int32Array(masks.length) },
    (tokens, compared) => {
      found.push(`${tokens} ${compared.length === tokens.length ? '' : `only ${compared}`}`.trim());
    },
  );
  return found;
}

test('tokens are compared at one position, or as the j-th that are trained', () => {
  assert.deepEqual(places(['101', '111'], 'position'), ['0,3', '4', '2,5 only 2']);
  assert.deepEqual(places(['101', '111'], 'trained-token'), ['0,3', '2,4', '5 only']);
});

test('the only longest response has no baseline beyond the second longest, unless two are longest', () => {
  assert.deepEqual(places(['11', '1', '1111'], 'position'), ['0,2,3', '1,4', '5 only', '6 only']);
  assert.deepEqual(places(['11', '1', '1111'], 'position', false), ['0,2,3', '1,4', '5', '6']);
  assert.deepEqual(places(['11', '11', '1'], 'position'), ['0,2,4', '1,3']);
});

test('a group of one response has no place, and a response without a trained token counts by position only', () => {
  assert.deepEqual(places(['11'], 'position'), []);
  assert.deepEqual(places(['11', '00'], 'trained-token'), []);
  assert.deepEqual(places(['11', '00'], 'position', false), ['0', '1']);
});

const STAGE = {
  do: 'subtract-token-baseline',
  align: 'position',
  zeroTail: true,
  epsilon: 1e-8,
  rolloutWeights: false,
} as const;

/** Two responses with these probabilities, certain of what they say, and returns 1 and 0. */
function bounded(probabilities: readonly number[], arithmetic = FLOAT32) {
  const tokens = probabilities.length;
  const own = [...probabilities, ...probabilities];
  const columns = {
    reward: own.map((_, t) => (t < tokens ? 1 : 0)),
    logProb: own.map((p) => Math.log(p)),
    squaredProbabilities: own.map((p) => p * p + (1 - p) ** 2),
  };
  const { column, overflow } = boundOne(STAGE, { offset: [0, tokens, 2 * tokens], columns }, arithmetic);
  return { ...column, overflow };
}

test('the interval of a token holds the value and is a few roundings wide', () => {
  const { value, low, high } = bounded([0.5, 0.9]);
  value.forEach((truth, t) => {
    assert.ok(low[t]! <= truth && truth <= high[t]!);
    assert.ok(high[t]! - low[t]! < 40 * FLOAT32.unit, `${high[t]! - low[t]!}`);
  });
});

test('a nearly certain first token can have any value, and the tokens after an uncertain one cannot', () => {
  const { low, high, overflow } = bounded([1 - 1e-7, 0.5]);
  assert.ok(low[0]! < -1e30 && high[0]! > 1e30);
  assert.ok(high[1]! - low[1]! < 1e-5);
  assert.deepEqual([...overflow], [0, 0, 0, 0]);
});

test('a response of nearly certain tokens is marked: nothing can be said of any of them', () => {
  assert.deepEqual([...bounded([1 - 1e-7, 1 - 1e-7]).overflow], [1, 1, 1, 1]);
});

test('so many tokens that bfloat16 may lose every digit can have any value', () => {
  const { low, high } = bounded(new Array<number>(300).fill(0.5), BFLOAT16);
  assert.ok(high[2]! - low[2]! < 0.2);
  assert.ok(high[299]! - low[299]! > 1e30);
});

test('sums of thousands of weights in float32, one after the other, stay within the interval', () => {
  const tokens = 4000;
  const squares = [0.1, 0.7].map(Math.fround);
  const own = (of: (row: number) => number) =>
    Array.from({ length: 2 * tokens }, (_, t) => of(t < tokens ? 0 : 1));
  const columns = {
    reward: own((row) => 1 - row),
    // No probability at all: the exponential rounds nothing.
    logProb: own(() => -1e3),
    squaredProbabilities: own((row) => squares[row]!),
  };
  const { value, low, high } = boundOne(STAGE, { offset: [0, tokens, 2 * tokens], columns }, FLOAT32).column;
  const sums = squares.map((square) => {
    let sum = 0;
    return Array.from({ length: tokens }, () => (sum = Math.fround(sum + Math.fround(1 + square))));
  });
  let farthest = 0;
  for (let t = 0; t < tokens; t++) {
    const [first, second] = sums.map((sum) => sum[t]!) as [number, number];
    const advantage = Math.fround(1 - Math.fround(first / Math.fround(first + second)));
    assert.ok(low[t]! <= advantage && advantage <= high[t]!, `token ${t}`);
    farthest = Math.max(farthest, Math.abs(advantage - value[t]!));
  }
  assert.ok(farthest > 30 * FLOAT32.unit, 'the sums drift');
});
