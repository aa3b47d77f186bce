import { around, exactly, include, inRange } from '../../arithmetic/interval.ts';
import { type PolicyLoss, SIDE } from './loss.ts';
import { expErrorAround, rowMean } from './sequence.ts';

/** verl adds this to a rollout weight before its logarithm. */
const WEIGHT_FLOOR = 1e-10;

/**
 * GMPO (geo_mean): the row's loss is −Ā·exp(mean of e), e the log-ratio clipped at −ε₋ and ε₊ on the side of the sign of A. Rollout
 * weights multiply it by their geometric mean over the row. A row has one loss, so its aggregation is the mean over rows: state
 * `seq-mean-token-mean`, in which the mean of equal losses is the row's. Source: verl core_algos.py `geo_mean`.
 */
export const GMPO: PolicyLoss = {
  name: 'gmpo',
  formula:
    '-mean(A) exp(mean of e + mean of ln w), e = sgn(A) min(sgn(A) d, sgn(A) clip(d, -clipLow, clipHigh))',
  source: 'verl geo_mean',
  parameters: {
    clipLow: { fallback: 0.2, means: 'ε₋: the log-ratio is clipped below −ε₋' },
    clipHigh: { fallback: 0.2, means: 'ε₊: the log-ratio is clipped above ε₊' },
  },
  usesWeight: true,
  row(tokens, { clipLow, clipHigh }, { row, arithmetic }) {
    const { logProb, oldLogProb } = tokens;
    const held = (token: number) => {
      const d = logProb[token]! - oldLogProb[token]!;
      const advantage = tokens.advantageOf(token);
      if (advantage === 0) return 0;
      return advantage > 0 ? Math.min(d, clipHigh!) : Math.max(d, -clipLow!);
    };
    const exponent = rowMean(tokens, held, 2, arithmetic);
    const advantage = rowMean(tokens, tokens.advantageOf, 1, arithmetic);
    // The sum with the floor and the logarithm of it round as well.
    const weight = rowMean(
      tokens,
      (t) => Math.log(Math.exp(tokens.logWeightOf(t)) + WEIGHT_FLOOR),
      2,
      arithmetic,
    );
    const ofWeights = rowMean(tokens, tokens.logWeightErrorOf, 1, arithmetic).mean + 2 * arithmetic.unit;
    const x = exponent.mean + weight.mean;
    const ratio = Math.exp(x);
    const error = exponent.error + (weight.mean === 0 ? 0 : weight.error + ofWeights);
    [row.ratio, row.ratioError] = inRange(ratio, ratio * expErrorAround(x, error, arithmetic));
    row.advantage = advantage.mean;
    row.advantageError = advantage.error;
  },
  measure: ({ logRatio }) => logRatio,
  edge: ({ logRatio }, { clipLow, clipHigh }) => ({
    of: 'log-ratio',
    value: logRatio,
    limit: logRatio < 0 ? -clipLow! : clipHigh!,
  }),
  bind({ clipLow, clipHigh }, { out, arithmetic: { unit } }) {
    return (token) => {
      const { advantage, ratio, ratioError, logRatio, rowAdvantage, rowAdvantageError } = token;
      const full = -rowAdvantage * ratio;
      const error =
        Math.abs(rowAdvantage) * ratioError +
        rowAdvantageError * (ratio + ratioError) +
        2 * unit * Math.abs(full);
      around(out.loss, full, error);
      const [low, high, own] = [-clipLow!, clipHigh!, unit * Math.abs(logRatio)];
      const isIn = logRatio - own > low + unit * low && logRatio + own < high - unit * high;
      const isOut = logRatio + own < low - unit * low || logRatio - own > high + unit * high;
      // verl counts clipped tokens by the sign of the advantage, on whichever side they are.
      if (isIn || advantage === 0) out.side = SIDE.none;
      else if (isOut) out.side = advantage > 0 ? SIDE.clip : SIDE.lower;
      else out.side = SIDE.undecided;
      const stops = advantage === 0 || (advantage > 0 ? logRatio > high : logRatio < low);
      if (stops && isOut) exactly(out.gradient, 0);
      else around(out.gradient, full, error);
      if (!isIn && !isOut) include(out.gradient, 0);
      if (advantage === 0) exactly(out.gradient, 0);
    };
  },
};
