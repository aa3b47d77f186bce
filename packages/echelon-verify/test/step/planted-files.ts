/** What is found of a planted bug in the step files that trainers write, which hold less than a step of a hook. */

import { present } from '../../src/base/present.ts';
import type { StepBatch } from '../../src/format/step-batch.ts';
import type { ColumnKey } from '../../src/format/step-columns.ts';
import type { StepReport } from '../../src/step/model/step-report.ts';
import { verifyStep } from '../../src/step/verify-step.ts';
import type { Planted } from './planted.ts';
import { divisors, losses } from './simulate-step.ts';

/** What a trainer's file holds, as its reader gives it; `planted-files.test.ts` compares it with files of the trainers. */
export interface HeldByFile {
  readonly tokens: readonly ColumnKey[];
  /** The micro-batches of all ranks. */
  readonly layout: boolean;
  /** The mean of the losses of the micro-batches. */
  readonly loss: boolean;
  readonly denominators: boolean;
  /** The loss of the trainer, from the configuration beside the file. */
  readonly policyLoss: boolean;
}

const ENGINES = ['mask', 'id', 'oldLogProb', 'rolloutLogProb', 'reportedAdvantage'] as const;
export const FILES = {
  'prime-rl': {
    tokens: [...ENGINES, 'logProb', 'reportedClipped', 'reportedRatio', 'entropy'],
    layout: true,
    loss: true,
    denominators: false,
    policyLoss: true,
  },
  SkyRL: {
    tokens: [...ENGINES, 'referenceLogProb'],
    layout: false,
    loss: false,
    denominators: false,
    policyLoss: false,
  },
  slime: { tokens: ENGINES, layout: true, loss: false, denominators: true, policyLoss: false },
  'NeMo-RL': { tokens: ENGINES, layout: false, loss: false, denominators: false, policyLoss: false },
} as const satisfies Readonly<Record<string, HeldByFile>>;
export type FileFormat = keyof typeof FILES;

/** The step as the file of a trainer holds it. */
export function heldBy(format: FileFormat, { batch: make, computed }: Planted): StepBatch {
  const held: HeldByFile = FILES[format];
  const { name, rows, step, tokens, microBatch, reportedAdvantage, trajectory } = make();
  // The files have one mask, and their readers say so where tokens were rejected from it.
  const isMasked = tokens.kept !== undefined;
  const columns = held.tokens.map((key) => [key, tokens[key]]);
  const reported =
    held.denominators && !isMasked ? computed && divisors(computed.from, computed.faults) : undefined;
  const layout = step.microBatches.map(({ rank, index, pass, reportedDenominator }, at) => ({
    rank,
    index,
    pass,
    ...(held.denominators && present({ reportedDenominator: reported?.[at] ?? reportedDenominator })),
  }));
  // prime-rl has no KL term or rollout correction of this kind.
  const isPlain = step.kl === undefined && step.rolloutCorrection === undefined && !isMasked;
  const loss = held.loss && isPlain && computed && meanLoss(computed);
  return {
    name,
    rows,
    tokens: { offset: tokens.offset, ...present(Object.fromEntries(columns)) },
    step: {
      ...present({
        optimizerStep: step.optimizerStep,
        policyLoss: held.policyLoss ? step.policyLoss : undefined,
      }),
      ...(held.layout && present({ aggregation: step.aggregation, dataParallelSize: step.dataParallelSize })),
      microBatches: held.layout ? layout : [{ rank: 0, index: 0, pass: 0 }],
      reported: loss ? { loss } : {},
    },
    ...present({ microBatch: held.layout ? microBatch : undefined, reportedAdvantage, trajectory }),
  };
}

function meanLoss({ from, faults }: NonNullable<Planted['computed']>) {
  const parts = losses(from, faults);
  const value = parts.reduce((sum, part) => sum + part, 0) / parts.length;
  return Number.isNaN(value) && faults.policy !== undefined
    ? undefined
    : ({ value, reduction: 'mean-of-micro-batches', hasMore: true } as const);
}

/** The bug's step without the bug, if the planted bug has one. */
export function withoutBug(planted: Planted): Planted | undefined {
  const { right, computed, ...rest } = planted;
  if (right === undefined) return undefined;
  return {
    ...rest,
    batch: right,
    ...(computed && { computed: { ...computed, faults: computed.right ?? {} } }),
  };
}

/** The reports of the step in the file of each trainer. */
export function inFiles(planted: Planted): [FileFormat, StepReport][] {
  return (Object.keys(FILES) as FileFormat[]).map((format) => [format, verifyStep(heldBy(format, planted))]);
}
