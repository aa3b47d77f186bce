/** What estimators with one advantage per token share: a discounted sum over the tokens of a response, then whitening. */

import type { MaskedTokens } from '../stages/accumulate.ts';
import type { TokenColumnName, TokenSequences } from '../stages/token-sequences.ts';
import type { Uses } from './estimator.ts';
import type { ChoiceRule, NumberRule } from './parameters.ts';
import { SCORES_OF_ROWS } from './shared.ts';

/** γ of the tokens. The batch's own `gamma` is the discount of steps. */
export const DISCOUNT: NumberRule = {
  kind: 'number',
  default: 1,
  least: 0,
  most: 1,
  doc: 'γ, the discount of one token.',
};

const WORDS: Readonly<Record<MaskedTokens, string>> = {
  skip: '`skip` ignores it',
  include: '`include` counts its reward and value',
  zero: '`zero` takes both as 0',
  reset: '`reset` starts the sum again before it',
};

/** What a token outside the mask does, for an estimator with these choices, the usual first. */
export function maskedTokensRule(...choices: [MaskedTokens, ...MaskedTokens[]]): ChoiceRule<MaskedTokens> {
  const doc = `A token outside the mask: ${choices.map((choice) => WORDS[choice]).join(', ')}.`;
  return { kind: 'choice', choices, default: choices[0], doc };
}

/** What an estimator over tokens uses. */
export function usesTokens(...tokens: TokenColumnName[]): Uses {
  return { ...SCORES_OF_ROWS, score: false, tokens };
}

/** The sum of a response's rewards from each token on, without discount. */
export const RETURN_OF_TOKENS = { do: 'accumulate', discount: 1, lambda: 1, values: false } as const;

/** The input of a chain over tokens: each token of the mask counts once, and all are one group. */
export function tokenStageInput<V>(sequences: TokenSequences<V>) {
  const { length } = sequences.mask;
  const none = (): never => {
    throw new TypeError('a chain over tokens has no reward functions');
  };
  return {
    group: new Int32Array(length),
    score: () => sequences.column('reward'),
    tokens: () => new Int32Array(length).fill(1),
    rewards: none,
    sequences,
  };
}
