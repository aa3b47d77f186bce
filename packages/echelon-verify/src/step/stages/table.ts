import type { StepBatch } from '../../format/step-batch.ts';
import type { StepModel } from '../model/model.ts';
import { STAGES, type StageName } from '../model/step-report.ts';
import { CLIP } from './clip.ts';
import { DENOMINATOR } from './denominator.ts';
import { MASK, ONCE, TOKENS, VERSIONS } from './exact-checks.ts';
import { GRADIENT } from './gradient.ts';
import { KL } from './kl.ts';
import { LOSS } from './loss.ts';
import { RATIO } from './ratio.ts';
import type { Comparison, ExactStage, StepStage, TokenStage } from './stage.ts';
import { WEIGHT } from './weight.ts';

/** Every stage, in the order in which a token passes them: the only list of them beside their words. */
export const STEP_STAGES = {
  rows: { needs: ['step.rowDigests', 'step.sourceDigests'] },
  advantage: { needs: ['trajectory', 'the batch of advantages'] },
  tokens: TOKENS,
  mask: MASK,
  once: ONCE,
  versions: VERSIONS,
  ratio: RATIO,
  weight: WEIGHT,
  clip: CLIP,
  loss: LOSS,
  kl: KL,
  gradient: GRADIENT,
  denominator: DENOMINATOR,
  reported: { needs: ['step.reported'] },
} as const satisfies { readonly [K in StageName]: StepStage };

/** The names of all stages, in order. */
export const STAGE_NAMES = Object.keys(STAGES) as readonly StageName[];

const ALL: Readonly<Record<StageName, StepStage>> = STEP_STAGES;

/** The stage with a name. */
export const stageOf = (name: StageName): StepStage => ALL[name];

/** The stages that are decided exactly. */
export const EXACT_STAGES: readonly { readonly stage: StageName; readonly of: ExactStage }[] =
  STAGE_NAMES.flatMap((stage) => {
    const of = ALL[stage];
    return 'check' in of ? [{ stage, of: of as ExactStage }] : [];
  });

/** The stages that are decided token by token. */
const TOKEN_STAGES: readonly { readonly stage: StageName; readonly of: TokenStage }[] = STAGE_NAMES.flatMap(
  (stage) => {
    const of = ALL[stage];
    return 'compare' in of ? [{ stage, of: of as TokenStage }] : [];
  },
);

/** A stage of the tokens of a step, with what it compares there. */
export interface TokenCheck extends Comparison {
  readonly stage: StageName;
  readonly of: TokenStage;
}

/** The token stages that a step has, whether or not the trainer reports their numbers. */
export function comparisons(model: StepModel): TokenCheck[] {
  return TOKEN_STAGES.flatMap(({ stage, of }) => {
    const compared = of.compare(model);
    return compared === undefined ? [] : [{ stage, of, ...compared }];
  });
}

/** The checks of a step: those of its reported columns, and the gradient in any case. */
export function tokenChecks(model: StepModel): TokenCheck[] {
  return comparisons(model).flatMap((check): TokenCheck[] => {
    if (check.reported !== undefined) return [check];
    return check.stage === 'gradient' ? [{ ...check, lacks: [...check.lacks, ...check.of.needs] }] : [];
  });
}

/** True for the stages that the stated loss has. Of a loss that is not known, all. */
export const isUsed = (batch: StepBatch, stage: StageName): boolean => ALL[stage].isUsed?.(batch) ?? true;
