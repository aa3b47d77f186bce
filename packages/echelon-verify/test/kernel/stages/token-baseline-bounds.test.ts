import assert from 'node:assert/strict';
import { test } from 'node:test';
import { BFLOAT16, FLOAT32 } from '../../../src/arithmetic/arithmetic.ts';
import type { IntervalColumn } from '../../../src/arithmetic/interval.ts';
import { boundTokenBaseline } from '../../../src/kernel/stages/token-baseline-bounds.ts';
import type { TokenInputName } from '../../../src/kernel/stages/token-sequences.ts';

const STAGE = {
  do: 'subtract-token-baseline',
  align: 'position',
  zeroTail: true,
  epsilon: 1e-8,
  rolloutWeights: false,
} as const;

const known = (values: readonly number[]): IntervalColumn => {
  const value = Float64Array.from(values);
  return { value, low: value, high: value };
};

/** Two responses with these probabilities, certain of what they say, and returns 1 and 0. */
function bounded(probabilities: readonly number[], arithmetic = FLOAT32) {
  const tokens = probabilities.length;
  const own = [...probabilities, ...probabilities];
  const columns: Partial<Record<TokenInputName, IntervalColumn>> = {
    logProb: known(own.map((p) => Math.log(p))),
    squaredProbabilities: known(own.map((p) => p * p + (1 - p) ** 2)),
  };
  const sequences = {
    offset: Int32Array.of(0, tokens, 2 * tokens),
    mask: new Uint8Array(2 * tokens).fill(1),
    group: new Int32Array(2),
    column: (name: TokenInputName) => columns[name]!,
  };
  const x = known(own.map((_, t) => (t < tokens ? 1 : 0)));
  const overflow = new Uint8Array(2 * tokens);
  return { ...boundTokenBaseline(STAGE, { sequences, x, arithmetic, overflow }), overflow };
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
    known(Array.from({ length: 2 * tokens }, (_, t) => of(t < tokens ? 0 : 1)));
  const columns: Partial<Record<TokenInputName, IntervalColumn>> = {
    // No probability at all: the exponential rounds nothing.
    logProb: own(() => -1e3),
    squaredProbabilities: own((row) => squares[row]!),
  };
  const sequences = {
    offset: Int32Array.of(0, tokens, 2 * tokens),
    mask: new Uint8Array(2 * tokens).fill(1),
    group: new Int32Array(2),
    column: (name: TokenInputName) => columns[name]!,
  };
  const overflow = new Uint8Array(2 * tokens);
  const x = own((row) => 1 - row);
  const { value, low, high } = boundTokenBaseline(STAGE, { sequences, x, arithmetic: FLOAT32, overflow });
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
