import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { StepBatch } from '../../../src/format/step-batch.ts';
import { rowFindings } from '../../../src/step/stages/row-findings.ts';
import { random } from '../simulate-step.ts';

/** Four rows of 40 tokens in two micro-batches. */
function stepOf(changes: Partial<StepBatch['tokens']> = {}, passes: readonly number[] = [0, 0]): StepBatch {
  const next = random(3);
  const count = 160;
  return {
    name: 'step',
    rows: 4,
    microBatch: Int32Array.of(0, 0, 1, 1),
    step: { microBatches: passes.map((pass, index) => ({ rank: 0, index, pass })), reported: {} },
    tokens: {
      offset: Int32Array.of(0, 40, 80, 120, 160),
      id: Int32Array.from({ length: count }, () => Math.floor(1000 * next())),
      logProb: Float32Array.from({ length: count }, () => -next()),
      ...changes,
    },
  };
}

/** The second micro-batch is the first one, its rows in another order. */
const again = <T extends Int32Array | Float32Array>(column: T): T =>
  column.map((_, t) => column[t < 80 ? t : (t + 40) % 80]!) as T;
const right = stepOf().tokens;
const copied = { id: again(right.id!), logProb: again(right.logProb!) };
const short = Uint8Array.from({ length: 160 }, (_, t) => (t % 40 === 7 ? 1 : 0));
const weights = (value: (t: number) => number) => Float32Array.from({ length: 160 }, (_, t) => value(t));

const CASES: readonly (readonly [string, StepBatch, readonly string[]])[] = [
  ['different micro-batches', stepOf(), []],
  ['the same micro-batch twice', stepOf(copied), ['micro-batch-repeated']],
  ['the same rows in two passes', stepOf(copied, [0, 1]), []],
  ['the same ids with other log-probs', stepOf({ id: copied.id }), []],
  ['one equal token in each', stepOf({ ...copied, mask: short }), []],
  [
    'a single token with a log-prob of 0',
    stepOf({ mask: short, logProb: right.logProb!.map((value, t) => (t === 47 ? 0 : value)) }),
    ['empty-outputs'],
  ],
  ['a single token with another log-prob', stepOf({ mask: short }), []],
  [
    'weights of 0.068 in the mean',
    stepOf({ rolloutWeight: weights((t) => (t % 15 === 0 ? 1 : 0)) }),
    ['rollout-weights-low'],
  ],
  ['weights near 1', stepOf({ rolloutWeight: weights((t) => 0.7 + (t % 7) / 10) }), []],
];

for (const [what, step, codes] of CASES)
  test(`findings about rows: ${what}`, () => {
    const found = rowFindings(step);
    assert.deepEqual(
      found.map(({ code }) => code),
      codes,
      JSON.stringify(found),
    );
  });

test('a repeated micro-batch is named with its rank and rows', () => {
  const [found] = rowFindings(stepOf(copied));
  assert.equal(found!.severity, 'error');
  assert.deepEqual(found!.rows, [2, 3]);
  assert.match(
    found!.message,
    /^Micro-batch 0 of rank 0 and micro-batch 1 of rank 0 have the same 80 trained tokens\./,
  );
});
