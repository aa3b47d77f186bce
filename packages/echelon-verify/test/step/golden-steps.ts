/** Optimizer steps that trainers' own code computed (scripts/golden/step_*.py). */

import { readFileSync } from 'node:fs';
import { readRecorded } from '../../src/format/read.ts';
import type { StepBatch } from '../../src/format/step-batch.ts';

/** The trainers whose steps are recorded. */
export const GOLDEN_TRAINERS = ['verl', 'trl', 'prime-rl', 'skyrl', 'nemo-rl', 'slime', 'trl-ranks'] as const;

/** All steps of a trainer. */
export function goldenSteps(trainer: (typeof GOLDEN_TRAINERS)[number]): StepBatch[] {
  const path = `test/golden/steps/${trainer}.json.gz`;
  const recorded = readRecorded(readFileSync(new URL(`../../../../${path}`, import.meta.url)), path);
  if (!('steps' in recorded)) throw new Error(`${path} holds no steps`);
  return recorded.steps;
}
