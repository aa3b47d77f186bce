import { neutralScale } from '../chain.ts';
import type { StepBatch } from '../format/step-batch.ts';
import { integersOf, type Layout } from '../layout.ts';
import { type Change, withSettings } from './change.ts';

/** Constant factors that are integers of the layout, and their inverses. Factors of one value are one change with all names. */
export function scaleChanges(batch: StepBatch, layout: Layout): Change[] {
  const byFactor = new Map<number, string[]>();
  for (const [name, integer] of integersOf(batch, layout)) {
    for (const [factor, sign] of [
      [integer, '×'],
      [1 / integer, '÷'],
    ] as const)
      byFactor.set(factor, [...(byFactor.get(factor) ?? []), `${sign} ${integer} (${name})`]);
  }
  return [...byFactor].map(([factor, names]) => ({
    dimension: 'scale',
    text: `an extra factor ${names.join(', or ')}`,
    apply: (changed) => scaled(changed, layout, factor),
  }));
}

function scaled(batch: StepBatch, layout: Layout, factor: number): StepBatch {
  const microBatches = batch.step.microBatches.map((one, at) => ({
    ...one,
    gradientScale: (one.gradientScale ?? neutralScale(batch, layout, at)) * factor,
  }));
  return withSettings(batch, { microBatches });
}
