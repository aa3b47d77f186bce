/** Which stages of a step are verified, and what keeps the others from it. */

import type { StepBatch } from '../../format/step-batch.ts';
import { type Coverage, STAGES, type StageName, type StageReport } from '../model/step-report.ts';
import { isUsed, STAGE_NAMES, stageOf } from './table.ts';

/** The coverage of a step by the reports of its stages. A stage that the stated loss does not have is in neither list. */
export function coverageOf(batch: StepBatch, stages: readonly StageReport[]): Coverage {
  const used = STAGE_NAMES.filter((stage) => isUsed(batch, stage));
  const reports = new Map(stages.map((report) => [report.stage, report]));
  const gradient = reports.get('gradient');
  const hasGradient = gradient !== undefined && isWhole(gradient);
  const lacks = used.map((stage): Coverage['missing'][number] => {
    const report = reports.get(stage);
    const of = stageOf(stage);
    const more = of.lacksBeside?.(batch) ?? [];
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
    if (of.isFactor)
      return { stage, lacks: hasGradient ? more : (gradient?.lacks ?? ['tokens.lossGradient']) };
    return { stage, lacks: of.needs };
  });
  const isVerified = ({ lacks: own }: { lacks: readonly string[] }) => own.length === 0;
  return {
    verified: lacks.filter(isVerified).map(({ stage }) => stage),
    missing: lacks.filter((one) => !isVerified(one)),
  };
}

const isWhole = ({ exact, rounding, wrong, unverifiable, lacks }: StageReport): boolean =>
  lacks.length === 0 && unverifiable === 0 && exact + rounding + wrong > 0;

/** The coverage of several steps: a stage is verified if it is in each of them. */
export function commonCoverage(all: readonly Coverage[]): Coverage {
  const missing = STAGE_NAMES.flatMap((stage): Coverage['missing'] => {
    const own = all.flatMap((coverage) => coverage.missing.filter((one) => one.stage === stage));
    return own.length === 0 ? [] : [{ stage, lacks: [...new Set(own.flatMap(({ lacks }) => lacks))] }];
  });
  const without = new Set(missing.map(({ stage }) => stage));
  const seen = new Set(all.flatMap(({ verified }) => verified));
  return { verified: STAGE_NAMES.filter((stage) => seen.has(stage) && !without.has(stage)), missing };
}

/** The names of stages in a text with commas. Throws a RangeError for one that is not known. */
export function stagesOf(text: string): StageName[] {
  return text.split(',').map((part) => {
    const name = part.trim();
    if (!(name in STAGES))
      throw new RangeError(`${name} is no stage; the stages are ${STAGE_NAMES.join(', ')}`);
    return name as StageName;
  });
}
