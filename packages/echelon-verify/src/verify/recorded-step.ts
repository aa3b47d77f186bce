/** The report of an optimizer step among those of recorded batches. */

import { counted, nounOf } from 'command-kit/plural';
import type { StepBatch } from '../format/step-batch.ts';
import { identifyStep } from '../identify/steps/identify-step.ts';
import type { BatchReport, Finding } from '../report/report.ts';
import { stepFinding } from '../report/step-findings.ts';
import type { StepReport } from '../step/model/step-report.ts';

/** Outcomes of rows, as of any batch, with the report of the stages. The fingerprint is the stated arithmetic. */
export interface RecordedStepReport extends BatchReport {
  readonly step: StepReport;
}

/** Explanations that a finding lists. */
const MAX_NAMED = 3;

/** From the report of a step. Of a step that is not right, findings name the arithmetic that explains it. */
export function recordedStep(batch: StepBatch, step: StepReport): RecordedStepReport {
  const { name, rows, ofRows, wrongRows, arithmetic, ok } = step;
  const findings = [...stageFindings(step), ...(step.consistent ? [] : identified(batch)), ...step.findings];
  return { name, rows, ...ofRows, wrongRows, roundingRows: [], findings, ok, fingerprint: arithmetic, step };
}

/** What is wrong and has no row. */
function stageFindings({ stages, values }: StepReport): Finding[] {
  const wrongOf = (name: string) => stages.find(({ stage }) => stage === name)?.wrong ?? 0;
  const wrongValues = values.filter(({ outcome }) => outcome === 'wrong').map(({ name }) => name);
  const denominators = wrongOf('denominator');
  const more = wrongValues.length > MAX_NAMED ? ` and ${wrongValues.length - MAX_NAMED} more` : '';
  return [
    ...(denominators === 0
      ? []
      : [
          stepFinding(
            'wrong-denominator',
            `${counted(denominators, 'denominator')} ${nounOf(denominators, 'is', 'are')} wrong.`,
          ),
        ]),
    ...(wrongValues.length === 0
      ? []
      : [
          stepFinding('wrong-reported-value', `Wrong: ${wrongValues.slice(0, MAX_NAMED).join(', ')}${more}.`),
        ]),
  ];
}

function identified(batch: StepBatch): Finding[] {
  const { explanations } = identifyStep(batch);
  if (explanations.length === 0) return [];
  const named = explanations.slice(0, MAX_NAMED).map((changes) => changes.join(', and '));
  const more = explanations.length > MAX_NAMED ? `; or ${explanations.length - MAX_NAMED} more` : '';
  return [stepFinding('arithmetic-identified', `It fits: ${named.join('; or: ')}${more}.`)];
}
