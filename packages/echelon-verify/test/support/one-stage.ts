import type { Arithmetic, Forms } from '../../src/arithmetic/arithmetic.ts';
import { EXACT } from '../../src/arithmetic/arithmetic.ts';
import type { InputColumn } from '../../src/arithmetic/interval.ts';
import { boundStages, type StageBounds, type StagePlan } from '../../src/kernel/stages/chain.ts';
import type { Stage } from '../../src/kernel/stages/table.ts';
import type { TokenInputName } from '../../src/kernel/stages/token-sequences.ts';

/** The tokens of one group of responses, all trained if there is no mask. A chain starts with `reward`. */
interface Tokens {
  readonly offset: readonly number[];
  readonly mask?: readonly number[];
  readonly columns: Readonly<Partial<Record<TokenInputName, ArrayLike<number>>>>;
  readonly forms?: Forms;
}

/** A chain of one stage over tokens, with its bounds. */
export function boundOne(
  stage: Stage,
  { offset, mask, columns, forms }: Tokens,
  arithmetic: Arithmetic,
): StageBounds {
  const count = offset.at(-1)!;
  const column = (name: TokenInputName): InputColumn => ({ value: Float64Array.from(columns[name]!) });
  const sequences = {
    offset: Int32Array.from(offset),
    mask: mask === undefined ? new Uint8Array(count).fill(1) : Uint8Array.from(mask),
    group: new Int32Array(offset.length - 1),
    column,
  };
  const plan: StagePlan = { stages: [stage], singleton: 'raw', missing: 'propagate' };
  const none = () => [];
  const input = {
    group: new Int32Array(count),
    score: () => column('reward'),
    tokens: () => new Int32Array(count),
    rewards: none,
    sequences,
  };
  return boundStages(plan, { ...input, ...(forms && { forms }) }, arithmetic);
}

/** The values of a chain of one stage over tokens. */
export function runOne(stage: Stage, tokens: Tokens): number[] {
  return [...boundOne(stage, tokens, EXACT).column.value];
}
