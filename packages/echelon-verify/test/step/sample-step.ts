/** The step of the documentation, as a file. */

import { readRecorded } from '../../src/format/read.ts';
import type { StepBatch } from '../../src/format/step-batch.ts';

/** A batch of the format's example, whose parts a test changes. */
export function exampleBatch() {
  return {
    name: 'update 40',
    step: {
      optimizerStep: 40,
      trainer: 'verl',
      trainerVersion: '0.9.1',
      policyLoss: { name: 'ppo-clip', clipLow: 0.2, clipHigh: 0.28, dualClip: 3 },
      aggregation: { mode: 'token-mean', scope: 'global' },
      dataParallelSize: 2,
      microBatches: [
        { rank: 0, index: 0, pass: 0, reportedDenominator: 5, gradientScale: 2 },
        { rank: 1, index: 0, pass: 0, reportedDenominator: 5, gradientScale: 2 },
      ],
      reported: {
        policyLoss: { value: -0.128, reduction: 'sum-of-micro-batches' },
        clipFraction: { value: 0.16666667, reduction: 'mean-of-micro-batches' },
      },
    } as Record<string, unknown>,
    group: ['task 1', 'task 1'],
    trajectory: ['a', 'b'],
    microBatch: [0, 1],
    tokens: {
      offset: [0, 3, 5],
      mask: [1, 1, 1, 1, 1],
      logProb: [-0.5, -1.2, -0.1, -2, -0.7],
      oldLogProb: [-0.5, -1.5, -0.1, -2, -0.7],
      reportedAdvantage: [0.5, 0.5, 0.5, -0.5, -0.5],
      lossGradient: [-0.2, 0, -0.2, 0.2, 0.2],
    } as Record<string, unknown>,
  };
}

/** Batches as the bytes of a file. */
export function stepFile(...batches: unknown[]): Uint8Array {
  return new TextEncoder().encode(JSON.stringify({ format: 'echelon-batch/3', batches }));
}

/** The steps of batches. */
export function readAll(...batches: unknown[]): StepBatch[] {
  const recorded = readRecorded(stepFile(...batches), 'test.json');
  if (!('steps' in recorded)) throw new Error('no steps');
  return recorded.steps;
}

/** The step of one batch. */
export const readOne = (batch: unknown): StepBatch => readAll(batch)[0]!;
