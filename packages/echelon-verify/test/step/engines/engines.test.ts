import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { StepBatch } from '../../../src/format/step-batch.ts';
import { verifyStep } from '../../../src/step/verify-step.ts';
import { pooledSteps } from '../../../src/verify/pooled-steps.ts';
import { random } from '../simulate-step.ts';

interface Shape {
  readonly rows: number;
  readonly tokens: number;
  readonly seed?: number;
  /** The engine's log-prob of a token whose trained one is `trainer`. */
  readonly engine?: (at: { trainer: number; row: number; token: number; noise: number }) => number;
}

/** Rows whose log-probs of trainer and engine differ by noise of the size 0.02, as in bfloat16. */
function stepOf({
  rows,
  tokens,
  seed = 5,
  engine = ({ trainer, noise }) => trainer + noise,
}: Shape): StepBatch {
  const next = random(seed);
  const count = rows * tokens;
  const oldLogProb = new Float32Array(count);
  const rolloutLogProb = new Float32Array(count);
  for (let t = 0; t < count; t++) {
    const trainer = Math.min(-1e-3, 1.2 * Math.log(1 - next()));
    oldLogProb[t] = trainer;
    const place = { row: Math.floor(t / tokens), token: t % tokens };
    rolloutLogProb[t] = engine({ trainer, ...place, noise: 0.04 * (next() - 0.5) * (1 - Math.exp(trainer)) });
  }
  const offset = Int32Array.from({ length: rows + 1 }, (_, row) => row * tokens);
  const step = { microBatches: [{ rank: 0, index: 0, pass: 0 }], reported: {} };
  return { name: `step ${seed}`, step, rows, tokens: { offset, oldLogProb, rolloutLogProb } };
}

const found = (shape: Shape) => verifyStep(stepOf(shape)).findings;

/** What is wrong, and the findings: each code with a text that it must hold. */
const CASES: readonly (readonly [string, Shape, Readonly<Record<string, RegExp>>])[] = [
  ['engines that differ by noise', { rows: 40, tokens: 120 }, {}],
  [
    'one token of 4,800 at -91',
    {
      rows: 40,
      tokens: 120,
      engine: ({ trainer, row, token, noise }) => (row === 7 && token === 30 ? -91 : trainer + noise),
    },
    { 'log-probs-apart': /1 token \(row 7, token 30: engine -91, trainer/ },
  ],
  [
    'a log-prob that is no number',
    {
      rows: 40,
      tokens: 120,
      engine: ({ trainer, row, token, noise }) => (row === 3 && token < 2 ? Number.NaN : trainer + noise),
    },
    { 'log-prob-not-finite': /2 tokens \(row 3, token 0/ },
  ],
  [
    'two of sixteen rows that the engine scored without their image',
    {
      rows: 16,
      tokens: 60,
      engine: ({ trainer, row, noise }) => trainer + (row === 4 || row === 9 ? 40 * noise : noise),
    },
    { 'rows-apart': /2 rows of 16 \(row 4: / },
  ],
  [
    'two rows of 128 tokens with a shift',
    {
      rows: 2,
      tokens: 128,
      engine: (() => {
        let last = -0.5;
        return ({ trainer }) => {
          const own = last;
          last = trainer;
          return own;
        };
      })(),
    },
    { 'log-probs-shifted': /over 252 tokens/ },
  ],
  [
    'four rows with likely tokens that the trainer does not know',
    {
      rows: 4,
      tokens: 50,
      engine: ({ trainer, token, noise }) => (token % 10 === 0 ? -0.1 : trainer + noise),
    },
    {},
  ],
];

for (const [what, shape, expected] of CASES) {
  test(`findings between engine and trainer: ${what}`, () => {
    const findings = found(shape);
    assert.deepEqual(
      findings.map(({ code }) => code),
      Object.keys(expected),
      JSON.stringify(findings),
    );
    for (const { code, message } of findings) assert.match(message, expected[code]!);
  });
}

test('no row of right steps of any size is apart', () => {
  for (let seed = 1; seed <= 60; seed++) {
    const shape = { rows: 2 + (seed % 30), tokens: 4 + 3 * (seed % 17), seed };
    assert.deepEqual(found(shape), [], JSON.stringify(shape));
  }
});

test('the steps of a dump show together what none of them shows', () => {
  const truncated = (seed: number) =>
    stepOf({ rows: 2, tokens: 20, seed, engine: ({ trainer, noise }) => trainer + 0.02 + noise / 4 });
  const reports = Array.from({ length: 30 }, (_, at) => ({
    file: `run/step_${at}.jsonl`,
    ...verifyStep(truncated(at + 1)),
  }));
  assert.deepEqual(
    reports.flatMap(({ findings }) => findings),
    [],
  );
  const [together, ...others] = pooledSteps(reports);
  assert.deepEqual([together?.of, together?.steps, others], ['run/step_*.jsonl', 30, []]);
  assert.match(together!.findings[0]!.message, /^30 steps together: The mean ratio is 0\.98/);
});
