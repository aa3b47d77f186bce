// Student's t for whole degrees of freedom, and the power of its two-sided test.

/** P(|T| ≤ t) for t ≥ 0. Source: Abramowitz and Stegun, Handbook of Mathematical Functions, 26.7.3 and 26.7.4. */
function centralProbability(t: number, freedom: number): number {
  const angle = Math.atan(t / Math.sqrt(freedom));
  const [sine, cosine] = [Math.sin(angle), Math.cos(angle)];
  const isOdd = freedom % 2 === 1;
  let term = isOdd ? cosine : 1;
  let sum = freedom === 1 ? 0 : term;
  for (let k = isOdd ? 3 : 2; k <= freedom - 2; k += 2) {
    term *= ((k - 1) / k) * cosine * cosine;
    sum += term;
  }
  return isOdd ? (2 / Math.PI) * (angle + sine * sum) : sine * sum;
}

/** The two-sided probability of a value as far from 0 as `t`. `freedom`: whole, at least 1. */
export function twoSidedP(t: number, freedom: number): number {
  return Math.max(0, 1 - centralProbability(Math.abs(t), freedom));
}

/** The t that |T| exceeds with probability `alpha`: 2.571 for 0.05 and 5 degrees of freedom. */
export function criticalT(alpha: number, freedom: number): number {
  return rootOf((t) => alpha - twoSidedP(t, freedom), 1e4);
}

const NODES = 100;
const HALVINGS = 50;

/**
 * The probability that |t| exceeds `critical` if the true difference is `shift` standard errors: the noncentral t, integrated over the
 * distribution of the standard deviation.
 */
export function powerOf(shift: number, freedom: number, critical: number): number {
  const width = 8 / Math.sqrt(2 * freedom);
  const from = Math.max(0, 1 - width);
  let [found, all] = [0, 0];
  for (let node = 0; node < NODES; node += 1) {
    const scale = from + ((1 + width - from) * (node + 0.5)) / NODES;
    const density = Math.exp((freedom - 1) * Math.log(scale) - (freedom * (scale * scale - 1)) / 2);
    found += density * (normal(shift - critical * scale) + normal(-shift - critical * scale));
    all += density;
  }
  return found / all;
}

/** The standard normal distribution function within 2e-7. Source: Abramowitz and Stegun, 7.1.26. */
function normal(z: number): number {
  const x = Math.abs(z) / Math.SQRT2;
  const t = 1 / (1 + 0.3275911 * x);
  const series = [1.061405429, -1.453152027, 1.421413741, -0.284496736, 0.254829592];
  const tail = (series.reduce((sum, factor) => sum * t + factor, 0) * t * Math.exp(-x * x)) / 2;
  return z < 0 ? tail : 1 - tail;
}

/** Where a rising function is 0 between 0 and `most`. */
export function rootOf(rising: (x: number) => number, most: number): number {
  let [low, high] = [0, most];
  for (let round = 0; round < HALVINGS; round += 1) {
    const middle = (low + high) / 2;
    if (rising(middle) < 0) low = middle;
    else high = middle;
  }
  return high;
}
