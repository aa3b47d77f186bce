/**
 * Losses, KL forms and rollout weights in plain float64, written from the trainers' formulas (the papers of each loss, and the reference of
 * the whole step) and not from the product. Gradients are differences of the loss, so that no derivative is stated twice.
 */

import type { CorrectionSettings, KlSettings } from '../../src/format/step-settings.ts';

/** A token: its log-probs and advantage, those of its row, and its rollout weight. `sg` is the log-prob behind a stop-gradient. */
export interface At {
  readonly sg: number;
  readonly old: number;
  readonly advantage: number;
  /** Log-ratios, advantages and weights of the row, the token's own among them. */
  readonly row: readonly { readonly d: number; readonly advantage: number; readonly weight: number }[];
  readonly place: number;
  /** True if the row has one weight, which counts once in a product over the row. */
  readonly isOneWeight: boolean;
}

type Params = Readonly<Record<string, number>>;
/** The loss of a token as a function of its log-prob. */
type Loss = (l: number, at: At, p: Params) => number;

const clamp = (x: number, low: number, high: number): number => Math.min(Math.max(x, low), high);
const mean = (all: readonly number[]): number => all.reduce((sum, x) => sum + x, 0) / all.length;
const sigmoid = (x: number): number => 1 / (1 + Math.exp(-x));

/** PPO clip of a ratio, with dual clip and delta. */
function ppo(r: number, a: number, p: Params): number {
  const first = -a * Math.min(r, p.delta ?? Number.POSITIVE_INFINITY);
  const loss = Math.max(first, -a * clamp(r, 1 - p.clipLow!, 1 + p.clipHigh!));
  return a < 0 && p.dualClip !== undefined ? Math.min(p.dualClip * -a, loss) : loss;
}

/** The row's log-ratios with this token's own as a function of its log-prob. */
const logRatios = (l: number, { old, row, place }: At): number[] =>
  row.map(({ d }, at) => (at === place ? l - old : d));

/** True if the probability moved further than allowed in the direction of the advantage. */
const isMoved = ({ sg, old, advantage }: At, p: Params): boolean => {
  const change = Math.exp(sg) - Math.exp(old);
  return advantage > 0 ? change > p.clipHigh! : change < -p.clipLow!;
};

/** Every policy loss, by name. */
export const LOSS_REFERENCE: Readonly<Record<string, Loss>> = {
  'ppo-clip': (l, { old, advantage }, p) =>
    ppo(Math.exp(clamp(l - old, -(p.logRatioClamp ?? 1e9), p.logRatioClamp ?? 1e9)), advantage, p),
  cispo: (l, { sg, old, advantage }, p) =>
    -clamp(Math.exp(sg - old), 1 - (p.clipLow ?? 1), p.cap ?? 1 + p.clipHigh!) * advantage * l,
  gspo: (l, at, p) => ppo(Math.exp(mean(logRatios(at.sg, at)) + l - at.sg), at.advantage, p),
  reinforce: (l, { advantage }) => -advantage * l,
  sapo(l, { old, advantage }, p) {
    const tau = advantage > 0 ? p.tauPositive! : p.tauNegative!;
    return (-advantage * sigmoid(tau * (Math.exp(l - old) - 1)) * 4) / tau;
  },
  'dppo-tv': (l, at, p) =>
    isMoved(at, p) ? 0 : -at.advantage * Math.min(Math.exp(at.sg - at.old), p.cap!) * l,
  gmpo(l, at, p) {
    const held = logRatios(l, at).map((d, t) => {
      const sign = Math.sign(at.row[t]!.advantage);
      return sign * Math.min(sign * d, sign * clamp(d, -p.clipLow!, p.clipHigh!));
    });
    const weights = at.row.map(({ weight }) => Math.log(weight + 1e-10));
    return -mean(at.row.map(({ advantage }) => advantage)) * Math.exp(mean(held) + mean(weights));
  },
  vespo(l, at, p) {
    const [k, lambda] =
      at.advantage >= 0 ? [p.kPositive!, p.lambdaPositive!] : [p.kNegative!, p.lambdaNegative!];
    const ratios = at.row.map(({ d }) => clamp(d, -20, 20));
    const weights = (at.isOneWeight ? at.row.slice(0, 1) : at.row).map(({ weight }) =>
      clamp(Math.log(weight), Math.log(1e-8), 20),
    );
    const sum = [...ratios, ...weights].reduce((so, x) => so + x, 0);
    const logW = clamp(sum, Math.log(1e-8), 20);
    return -Math.exp(lambda + k * logW - lambda * Math.exp(logW)) * at.advantage * l;
  },
  dro: (l, { old, advantage }, p) => -(advantage * l - (p.beta! / 2) * (l - old) ** 2),
  'cross-entropy': (l) => -l,
  'prime-rl': (l, at, p) =>
    (isMoved(at, p) ? 0 : -p.advTau! * at.advantage * Math.exp(l - at.old)) + p.klTau! * (l - at.old) ** 2,
  'prime-rl-ipo': (l, at, p) =>
    (Math.abs(Math.exp(at.sg) - Math.exp(at.old)) > p.threshold!
      ? 0
      : -p.advTau! * at.advantage * Math.exp(l - at.old)) +
    p.klTau! * (l - at.old) ** 2,
};

/** Losses that are one number of a row: the derivative by one log-prob is that of a mean over its tokens. */
export const OF_ROW: readonly string[] = ['gmpo'];

/** Losses of which the rollout weight is a part. */
export const WITH_WEIGHT: readonly string[] = ['gmpo', 'vespo'];

const ESTIMATORS: Readonly<Record<string, (x: number) => number>> = {
  k1: (x) => x,
  kl: (x) => x,
  abs: Math.abs,
  k2: (x) => (x * x) / 2,
  mse: (x) => (x * x) / 2,
  k3: (x) => Math.exp(-x) - 1 + x,
  low_var_kl: (x) => Math.exp(-x) - 1 + x,
};

/** The KL term without its coefficient, as a function of the log-prob. `reference`: log-prob under the reference policy. */
export function klReference(
  l: number,
  { sg, old, reference }: { readonly sg: number; readonly old: number; readonly reference: number },
  { estimator, inputClamp = 1e9, outputClamp = 1e9, gradientOf, weight }: KlSettings,
): number {
  const value = (at: number): number =>
    clamp(ESTIMATORS[estimator]!(clamp(at - reference, -inputClamp, inputClamp)), -outputClamp, outputClamp);
  const straight = gradientOf === undefined ? undefined : ESTIMATORS[gradientOf]!;
  const own =
    straight === undefined ? value(l) : value(sg) + straight(l - reference) - straight(sg - reference);
  if (weight === 'ratio') return own * Math.exp(l - old);
  return weight === 'probability' ? own * Math.exp(l - sg) : own;
}

/** The rollout weights of a row, from ln ρ of its tokens. */
export function weightReference(
  logs: readonly number[],
  { level, statistic, action, low = 0, high = 1e300, keptWeight, exponentClamp = 1e9 }: CorrectionSettings,
): number[] {
  const ratio = (x: number): number => Math.exp(clamp(x, -exponentClamp, exponentClamp));
  const limited = (w: number): number =>
    action === 'truncate' ? clamp(w, low, high) : w < low || w > high ? 0 : w;
  if (level === 'token') return logs.map((x) => limited(ratio(x)));
  const sum = logs.reduce((so, x) => so + x, 0);
  const ofRow = limited(ratio(statistic === 'mean' ? sum / logs.length : sum));
  return logs.map((x) => (keptWeight === 'statistic' ? ofRow : ofRow === 0 ? 0 : ratio(x)));
}

/** The derivative of a function, by a difference that is good to about 1e-9. */
export function slope(f: (x: number) => number, x: number): number {
  const h = 2 ** -13;
  const at = (step: number): number => (f(x + step) - f(x - step)) / (2 * step);
  return (4 * at(h / 2) - at(h)) / 3;
}
