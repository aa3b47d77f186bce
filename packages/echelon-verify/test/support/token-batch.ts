import type { Batch, TokenColumns } from '../../src/format/batch.ts';
import { goldenTokens } from './golden-tokens.ts';

/** A batch that a published trainer's function gave, by form and input, with other columns of tokens. */
export function tokenBatch(name: string, changes: Partial<TokenColumns> = {}): Batch {
  const found = goldenTokens().find(({ batch }) => batch.name === name);
  if (found === undefined) throw new RangeError(`no golden batch ${name}`);
  return { ...found.batch, tokens: { ...found.batch.tokens!, ...changes } };
}

/** The batch without a column of its tokens. */
export function without(batch: Batch, column: keyof TokenColumns): Batch {
  const { [column]: _omitted, ...tokens } = batch.tokens!;
  return { ...batch, tokens: tokens as TokenColumns };
}

/** The batch with the advantages that its tokens have by other parameters or other tokens: a trainer's mistake. */
export function reporting(batch: Batch, advantage: Float64Array): Batch {
  return { ...batch, tokens: { ...batch.tokens!, reportedAdvantage: advantage.map(Math.fround) } };
}
