/** `echelon-verify/report`: what a verification says: reports, findings, the signal of a training, the stages of a step. */

export { FINDINGS } from './report/findings.ts';
export type { BatchReport } from './report/report.ts';
export { NOT_VERIFIABLE } from './report/report.ts';
export type { KeyStrength, SignalDescription } from './report/signal-description.ts';
export { STEP_FINDINGS } from './report/step-findings.ts';
export { contradictionsOf, isWrong, signalOf, wrongBecause } from './report/training-signal.ts';
export { OUTCOMES } from './step/model/judge.ts';
export type { RowCounts, StageName, StageReport, StepReport } from './step/model/step-report.ts';
export { STAGES } from './step/model/step-report.ts';
