import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { FindEstimated } from '../../src/step/stages/row-checks.ts';
import { verifyStep } from '../../src/step/verify-step.ts';
import { exampleBatch, readOne } from './sample-step.ts';

const DIGESTS = { rowDigests: ['a', 'b'], sourceDigests: ['b', 'c', 'a'] };

function reportOf(step: object, find?: FindEstimated, trajectory = ['7/0', '7/1']) {
  const batch = exampleBatch();
  Object.assign(batch, { trajectory });
  Object.assign(batch.step, step);
  return verifyStep(readOne(batch), find);
}

const stageOf = ({ stages }: ReturnType<typeof verifyStep>, name: string) => {
  const found = stages.find(({ stage }) => stage === name);
  return found && [found.exact, found.wrong, found.unverifiable];
};

for (const [what, step, expected] of [
  ['rows of the rollout', DIGESTS, [2, 0, 0]],
  ['a row that was not generated', { ...DIGESTS, rowDigests: ['a', 'd'] }, [1, 1, 0]],
  ['a row that is trained twice and was generated once', { ...DIGESTS, rowDigests: ['a', 'a'] }, [1, 1, 0]],
  ['rows without those of the rollout', { rowDigests: ['a', 'b'] }, undefined],
] as const) {
  test(`${what}: ${expected === undefined ? 'no outcome' : `${expected[1]} wrong`}`, () => {
    const report = reportOf(step);
    assert.deepEqual(stageOf(report, 'rows'), expected);
    assert.equal(report.consistent, (expected?.[1] ?? 0) === 0);
  });
}

/** The example trains its rows with 0.5 and −0.5. */
const estimated =
  (...batches: [string, number][][]): FindEstimated =>
  (step) =>
    step === '7' ? batches.map((rows) => ({ rows: new Map(rows) })) : [];

for (const [what, rows, expected] of [
  [
    'the estimated advantages',
    [
      ['0', 0.5],
      ['1', -0.5],
    ],
    [2, 0, 0],
  ],
  [
    'advantages that moved by a row',
    [
      ['0', -0.5],
      ['1', 0.5],
    ],
    [0, 2, 0],
  ],
  ['a row that the batch does not have', [['0', 0.5]], [1, 0, 1]],
] as [string, [string, number][], number[]][]) {
  test(`a step that is trained with ${what} has ${expected.join(', ')} exact, wrong and unverifiable rows`, () => {
    const report = reportOf({}, estimated(rows));
    assert.deepEqual(stageOf(report, 'advantage'), expected);
    assert.deepEqual(report.wrongRows.length, expected[1]);
  });
}

test('a batch that is not there is named', () => {
  const report = reportOf({}, estimated([]), ['8/0', '8/1']);
  const { lacks } = report.coverage.missing.find(({ stage }) => stage === 'advantage')!;
  assert.deepEqual(lacks, ['the batch of training step 8']);
});

test('of the batches of several runs, the one that gives all rows is that of the step; none is called wrong', () => {
  const own: [string, number][] = [
    ['0', 0.5],
    ['1', -0.5],
  ];
  const other: [string, number][] = [
    ['0', 0.5],
    ['1', 0.25],
  ];
  assert.deepEqual(stageOf(reportOf({}, estimated(other, own)), 'advantage'), [2, 0, 0]);
  const report = reportOf({}, estimated(other, other));
  assert.deepEqual(stageOf(report, 'advantage'), [0, 0, 2]);
  const { lacks } = report.coverage.missing.find(({ stage }) => stage === 'advantage')!;
  assert.deepEqual(lacks, ['one batch of training step 7, not several']);
});
