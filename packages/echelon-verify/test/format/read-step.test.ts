import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { BatchFormatError } from '../../src/format/format-error.ts';
import { readBatchFile, readRecorded } from '../../src/format/read.ts';
import { bytesPerToken, COLUMN_KEYS } from '../../src/format/step-columns.ts';
import { decodeStep, encodeStep } from '../../src/format/step-wire.ts';
import { verifyStep } from '../../src/step/verify-step.ts';
import { exampleBatch, readOne, stepFile } from '../step/sample-step.ts';

const DOC = readFileSync(new URL('../../../../docs/reference/batch-format.md', import.meta.url), 'utf8');

/** A batch with every column, none of them equal to another. */
function fullBatch() {
  const batch = exampleBatch();
  const floats = (start: number) => [0, 1, 2, 3, 4].map((at) => -(start + at) / 7);
  return {
    ...batch,
    policyVersionStart: [38, 39],
    policyVersionEnd: [39, 39],
    reported: { advantage: [0.5, -0.5], denominator: [3, 2] },
    tokens: {
      ...batch.tokens,
      sampled: [1, 1, 0, 1, 1],
      kept: [1, 0, 0, 1, 1],
      id: [5, 6, 7, 8, 9],
      sampledId: [5, 6, 7, 8, 10],
      position: [0, 1, 2, 0, 1],
      policyVersion: [38, 38, 39, 39, 39],
      reportedClipped: [0, 1, 0, 0, 2],
      rolloutLogProb: floats(1),
      referenceLogProb: floats(2),
      reportedRatio: floats(3),
      rolloutWeight: [1, 1, 2, null, 0.5],
      entropy: floats(4),
      reportedKl: floats(5),
      reportedLoss: floats(6),
    },
  };
}

test('a step with every column is the same after the wire', () => {
  const step = readOne(fullBatch());
  const columns = Object.keys(step.tokens).filter((key) => key !== 'offset');
  assert.deepEqual([...columns].sort(), [...COLUMN_KEYS].sort());
  assert.deepEqual(decodeStep(encodeStep(step)), step);
});

test('a step on the wire is read like a file by its first bytes', () => {
  const step = readOne(exampleBatch());
  const recorded = readRecorded(encodeStep(step), 'step.pb');
  assert.ok('steps' in recorded);
  assert.deepEqual(recorded.steps, [step]);
});

test('a reader of advantage batches refuses a step and names its format', () => {
  assert.throws(() => readBatchFile(stepFile(exampleBatch()), 'a.json'), /echelon-batch\/3/);
});

test('the example of the documentation is read and ok', () => {
  const section = DOC.slice(DOC.indexOf('## Optimizer steps'));
  const text = /```json\n([\s\S]*?)```/.exec(section)![1]!;
  const recorded = readRecorded(new TextEncoder().encode(text), 'doc.json');
  assert.ok('steps' in recorded);
  const [report] = recorded.steps.map((step) => verifyStep(step));
  assert.equal(report!.ok, true);
  assert.equal(report!.stages.find(({ stage }) => stage === 'denominator')!.exact, 2);
});

test('the documentation lists every column and the bytes of each profile', () => {
  for (const key of COLUMN_KEYS) assert.match(DOC, new RegExp(`\\| \`${key}\` \\| \\w+`), key);
  const bytes = (['minimal', 'standard', 'full'] as const).map((profile) =>
    (Math.round(bytesPerToken(profile) * 10) / 10).toFixed(1),
  );
  assert.ok(DOC.includes(`${bytes[0]} (minimal), ${bytes[1]} (standard) or ${bytes[2]} (full) bytes`));
});

const REFUSED: readonly [string, unknown, RegExp][] = [
  ['a column of the wrong length', { tokens: { offset: [0, 2], logProb: [-1] } }, /2 entries/],
  ['a slip in a column name', { tokens: { offset: [0, 1], logprobs: [-1] } }, /did you mean tokens.logProb/],
  ['a slip in a setting', { step: { optimiserStep: 1 }, tokens: { offset: [0] } }, /optimizerStep/],
  [
    'an unknown scope',
    { step: { aggregation: { mode: 'token-mean', scope: 'gpu' } }, tokens: { offset: [0] } },
    /one of global/,
  ],
  ['a side above 2', { tokens: { offset: [0, 1], reportedClipped: [3] } }, /reportedClipped\[0\]/],
  ['a row outside the micro-batches', { microBatch: [1], tokens: { offset: [0, 1] } }, /microBatch\[0\]/],
  ['decreasing offsets', { tokens: { offset: [0, 2, 1] } }, /tokens.offset\[2\]/],
  ['no tokens', {}, /tokens/],
];

for (const [what, batch, message] of REFUSED) {
  test(`a step with ${what} is refused with the place of the fault`, () => {
    assert.throws(
      () => readOne(batch),
      (error) => error instanceof BatchFormatError && message.test(error.message),
    );
  });
}

test('a step of the wire that is cut off is refused', () => {
  const wire = encodeStep(readOne(fullBatch()));
  for (const length of [20, 100, wire.length - 1])
    assert.throws(() => decodeStep(wire.subarray(0, length)), BatchFormatError);
});

test('a step that Python wrote is read as its file says', () => {
  const folder = new URL('../../../../test/golden/steps/', import.meta.url);
  const recorded = readRecorded(readFileSync(new URL('every-column.json', folder)), 'every-column.json');
  assert.ok('steps' in recorded);
  assert.deepEqual(decodeStep(readFileSync(new URL('python.pb', folder))), recorded.steps[0]);
  // Python's test reads this file.
  assert.deepEqual(
    Buffer.from(encodeStep(recorded.steps[0]!)),
    readFileSync(new URL('typescript.pb', folder)),
  );
});

test('a loss and a denominator that are no numbers are reported as such, after the wire too, and are wrong', () => {
  const batch = exampleBatch();
  const [first, ...others] = batch.step.microBatches as object[];
  batch.step.microBatches = [{ ...first, reportedLoss: 'NaN', reportedDenominator: 'Infinity' }, ...others];
  const step = decodeStep(encodeStep(readOne(batch)));
  const { reportedLoss, reportedDenominator } = step.step.microBatches[0]!;
  assert.deepEqual([reportedLoss, reportedDenominator], [Number.NaN, Number.POSITIVE_INFINITY]);
  const wrong = verifyStep(step).stages.filter((stage) => stage.wrong > 0);
  assert.deepEqual(
    wrong.map(({ stage }) => stage),
    ['denominator', 'reported'],
  );
});
