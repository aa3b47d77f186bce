import type { Aggregation } from './aggregation.ts';

/** Σ loss / a stated number, such as TRL's expected count of a window. */
export const CONSTANT: Aggregation = {
  mode: 'constant',
  divisor: '`denominator`',
  source:
    'TRL dapo, cispo, vespo (num_items_in_batch / ranks · accumulation steps / steps per generation) and dr_grpo',
  needs: ({ denominator }) => (denominator === undefined ? ['denominator'] : []),
  divide: (_layout, _row, { denominator }) => denominator!,
};
