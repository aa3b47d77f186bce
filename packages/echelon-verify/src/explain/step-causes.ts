/** What probably went wrong in a step, in the order in which people should look. */

import type { StepBatch } from '../format/step-batch.ts';
import { identifyStep } from '../identify/steps/identify-step.ts';
import type { StepReport } from '../step/model/step-report.ts';
import { explainToken } from './explain-step.ts';

/** Causes that are listed at most. */
const MAX_LISTED = 3;

/** Empty if the step is consistent, or if nothing known explains it. */
export function causesOf(batch: StepBatch, report: StepReport): string[] {
  if (report.consistent) return [];
  const { explanations, clues } = identifyStep(batch);
  const named = explanations.map((changes) => changes.join(', and '));
  const all = [
    ...(named.length > 0 ? [named.slice(0, MAX_LISTED).join('; or: ')] : []),
    ...clues.slice(0, MAX_LISTED),
  ];
  if (all.length > 0) return all.slice(0, MAX_LISTED);
  const [wrong] = report.wrongTokens;
  return wrong === undefined ? [] : explainToken(batch, wrong.row, wrong.token).causes.slice(0, MAX_LISTED);
}
