/** Which stages of a step are verified, and what keeps the others from it. */

import type { StepBatch } from '../../format/step-batch.ts';
import { lossOf } from '../losses/registry.ts';
import { aggregationOf } from './aggregations.ts';
import { type Coverage, STAGES, type StageName, type StageReport } from './step-report.ts';

/** Factors of the gradient coefficient: if the trainer reports no value of its own, a verified coefficient verifies them. */
const FACTORS: readonly StageName[] = ['ratio', 'weight', 'clip', 'loss', 'kl', 'denominator'];

/** What a stage needs that has no report. */
const NEEDS: Readonly<Partial<Record<StageName, readonly string[]>>> = {
  rows: ['step.rowDigests', 'step.sourceDigests'],
  advantage: ['trajectory', 'the batch of advantages'],
  tokens: ['tokens.id', 'tokens.sampledId'],
  mask: ['tokens.mask'],
  once: ['trajectory', 'tokens.position'],
  versions: ['tokens.policyVersion or policyVersionStart', 'step.optimizerStep'],
  reported: ['step.reported'],
};

/** The coverage of a step by the reports of its stages. A stage that the stated loss does not have is in neither list. */
export function coverageOf(batch: StepBatch, stages: readonly StageReport[]): Coverage {
  const used = (Object.keys(STAGES) as StageName[]).filter((stage) => isUsed(batch, stage));
  const reports = new Map(stages.map((report) => [report.stage, report]));
  const gradient = reports.get('gradient');
  const hasGradient = gradient !== undefined && isWhole(gradient);
  const lacks = used.map((stage): Coverage['missing'][number] => {
    const report = reports.get(stage);
    const more = beside(batch, stage);
    if (report !== undefined && isWhole(report)) return { stage, lacks: more };
    if (report !== undefined)
      return {
        stage,
        lacks: [
          ...report.lacks,
          ...more,
          ...(report.lacks.length + more.length > 0 ? [] : ['rows or tokens that can be verified']),
        ],
      };
    // A digest holds the token ids.
    if (stage === 'tokens' && reports.has('rows')) return { stage, lacks: [] };
    if (FACTORS.includes(stage))
      return { stage, lacks: hasGradient ? more : (gradient?.lacks ?? ['tokens.lossGradient']) };
    return { stage, lacks: NEEDS[stage] ?? ['its columns'] };
  });
  const isVerified = ({ lacks: own }: { lacks: readonly string[] }) => own.length === 0;
  return {
    verified: lacks.filter(isVerified).map(({ stage }) => stage),
    missing: lacks.filter((one) => !isVerified(one)),
  };
}

const isWhole = ({ exact, rounding, wrong, unverifiable, lacks }: StageReport): boolean =>
  lacks.length === 0 && unverifiable === 0 && exact + rounding + wrong > 0;

/** What a stage lacks although it has a report, or is a factor of a verified gradient. */
function beside({ step, tokens }: StepBatch, stage: StageName): string[] {
  // Without it, only that no other token has a gradient is verified.
  if (stage === 'mask' && tokens.sampled === undefined) return ['tokens.sampled'];
  const { aggregation } = step;
  if (stage === 'denominator' && aggregation !== undefined && aggregationOf(aggregation.mode)?.isFree)
    return ['an aggregation that counts'];
  return [];
}

/** True for the stages that the stated loss has. Of a loss that is not known, all. */
function isUsed({ step, tokens }: StepBatch, stage: StageName): boolean {
  const { policyLoss, rolloutCorrection, kl } = step;
  const loss = policyLoss && lossOf(policyLoss.name);
  if (stage === 'weight') return rolloutCorrection !== undefined || tokens.rolloutWeight !== undefined;
  if (stage === 'kl') return kl !== undefined && kl.placement === 'loss' && kl.coefficient !== 0;
  if (stage === 'clip') return loss === undefined || loss.edge !== undefined;
  if (stage === 'ratio') return loss?.ignoresOld !== true;
  return true;
}

/** The coverage of several steps: a stage is verified if it is in each of them. */
export function commonCoverage(all: readonly Coverage[]): Coverage {
  const names = Object.keys(STAGES) as StageName[];
  const missing = names.flatMap((stage): Coverage['missing'] => {
    const own = all.flatMap((coverage) => coverage.missing.filter((one) => one.stage === stage));
    return own.length === 0 ? [] : [{ stage, lacks: [...new Set(own.flatMap(({ lacks }) => lacks))] }];
  });
  const without = new Set(missing.map(({ stage }) => stage));
  const seen = new Set(all.flatMap(({ verified }) => verified));
  return { verified: names.filter((stage) => seen.has(stage) && !without.has(stage)), missing };
}

/** The names of stages in a text with commas. Throws a RangeError for one that is not known. */
export function stagesOf(text: string): StageName[] {
  return text.split(',').map((part) => {
    const name = part.trim();
    if (!(name in STAGES))
      throw new RangeError(`${name} is no stage; the stages are ${Object.keys(STAGES).join(', ')}`);
    return name as StageName;
  });
}
