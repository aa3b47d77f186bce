/** The columns of inputs that have one entry per token. */
export const TOKEN_COLUMNS = ['reward', 'value', 'logProb', 'squaredProbabilities', 'rolloutWeight'] as const;

/** A column of inputs with one entry per token. */
export type TokenColumnName = (typeof TOKEN_COLUMNS)[number];

/** What a chain over tokens reads: columns of tokens, and that of the rows whose entry all tokens of a row have. */
export type TokenInputName = TokenColumnName | 'rewardBaseline';

/** Tokens of responses: those of response i are `offset[i]` to `offset[i + 1] - 1`. */
export interface TokenSequences<V = Float64Array> {
  readonly offset: Int32Array;
  /** 0 for tokens that are not trained. */
  readonly mask: Uint8Array;
  /** The group of each response. */
  readonly group: Int32Array;
  /** One entry per token. Called only for columns that are needed; throws if the batch lacks it. */
  column(name: TokenInputName): V;
}

/** A column of rows with one entry per token. */
export function perToken(offset: Int32Array, column: Float64Array): Float64Array {
  const spread = new Float64Array(offset.at(-1)!);
  column.forEach((x, row) => {
    spread.fill(x, offset[row]!, offset[row + 1]!);
  });
  return spread;
}
