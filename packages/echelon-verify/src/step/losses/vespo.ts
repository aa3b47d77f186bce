import { around, inRange } from '../../arithmetic/interval.ts';
import { type PolicyLoss, SIDE } from './loss.ts';
import { expErrorAround, rowMean } from './sequence.ts';

/** TRL clamps each log-ratio to ± this, and their sum from ln 1e-8 to this. */
const MOST = 20;
const LEAST = Math.log(1e-8);

/**
 * VESPO: −φ·A·logProb with φ = exp(λ + k·ln W − λ·W), constant; W is the product of the row's ratios and rollout weights. An error
 * e of ln W changes the exponent by (k + λ·W)·e. Source: TRL grpo_trainer.py `get_gamma_weights`.
 */
export const VESPO: PolicyLoss = {
  name: 'vespo',
  formula: '-φ A logProb, φ = exp(λ + k ln W - λ W), W = product of the ratios of the row',
  source: 'TRL vespo',
  parameters: {
    kPositive: { fallback: 2, means: 'k for A ≥ 0' },
    lambdaPositive: { fallback: 3, means: 'λ for A ≥ 0' },
    kNegative: { fallback: 3, means: 'k for A < 0' },
    lambdaNegative: { fallback: 2, means: 'λ for A < 0' },
  },
  usesWeight: true,
  row(tokens, params, { row, arithmetic }) {
    const { logProb, oldLogProb } = tokens;
    const logWeight = (token: number) => Math.max(LEAST, Math.min(MOST, tokens.logWeightOf(token)));
    const logRatio = (token: number) =>
      Math.max(-MOST, Math.min(MOST, logProb[token]! - oldLogProb[token]!)) +
      (tokens.hasRowWeight ? 0 : logWeight(token));
    const sum = rowMean(tokens, logRatio, 4, arithmetic);
    const ofRow = tokens.hasRowWeight ? logWeight(tokens.start) : 0;
    const logW = Math.max(LEAST, Math.min(MOST, sum.mean * sum.count + ofRow));
    const ofWeights = tokens.hasRowWeight
      ? tokens.logWeightErrorOf(tokens.start)
      : rowMean(tokens, tokens.logWeightErrorOf, 1, arithmetic).mean * sum.count;
    const error =
      sum.error * sum.count + ofWeights + arithmetic.unit * (Math.abs(logW) + 4 * Math.abs(ofRow));
    const isUp = tokens.advantageOf(tokens.start) >= 0;
    const k = isUp ? params.kPositive! : params.kNegative!;
    const lambda = isUp ? params.lambdaPositive! : params.lambdaNegative!;
    const w = Math.exp(logW);
    const exponent = lambda + k * logW - lambda * w;
    const size = Math.abs(lambda) + Math.abs(k * logW) + Math.abs(lambda * w);
    const wError = w * expErrorAround(logW, error, arithmetic);
    const own = k * error + lambda * wError + 4 * arithmetic.unit * size;
    const ratio = Math.exp(exponent);
    [row.ratio, row.ratioError] = inRange(ratio, ratio * expErrorAround(exponent, own, arithmetic));
  },
  bind(_params, { out, arithmetic: { unit } }) {
    return ({ advantage, ratio, ratioError, logProb }) => {
      const error = Math.abs(advantage) * (ratioError + 3 * unit * ratio);
      around(out.gradient, -ratio * advantage, error);
      around(out.loss, -ratio * advantage * logProb, error * Math.abs(logProb));
      out.side = SIDE.none;
    };
  },
};
