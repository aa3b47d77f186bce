/** Steps with the causes of what is wrong with them. */

import { causesOf } from '../explain/step-causes.ts';
import type { StepBatch } from '../format/step-batch.ts';
import type { StepReport } from '../step/model/step-report.ts';
import type { FindEstimated } from '../step/stages/row-checks.ts';
import { verifyStep } from '../step/verify-step.ts';

/** Steps whose causes are looked for: the search takes far longer than the verification, and later steps mostly have the same cause. */
const MAX_EXPLAINED = 3;

/** Verifies one step after another as `verifyStep` does; the first ones that are not right have their causes. */
export function createStepJudge(): (step: StepBatch, estimated?: FindEstimated) => StepReport {
  let explained = 0;
  return (step, estimated) => {
    const report = verifyStep(step, estimated);
    if (report.consistent || explained >= MAX_EXPLAINED) return report;
    explained++;
    const causes = causesOf(step, report);
    return causes.length > 0 ? { ...report, causes } : report;
  };
}
