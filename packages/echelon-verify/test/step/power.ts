/** How small an error of a denominator can be that is found, by precision and number of tokens. */

import { roundToBfloat16 } from '../../src/arithmetic/arithmetic.ts';
import type { StepBatch } from '../../src/format/step-batch.ts';
import { verifyStep } from '../../src/step/verify-step.ts';
import { count, rollouts, simulated } from './simulate-step.ts';

/** A float32 step whose denominator is the right one divided by a factor. */
const singlePrecisionStep = (longest: number, factor: number): StepBatch =>
  simulated({
    from: rollouts(7, longest),
    faults: { divisor: (from) => count(from, from.mask, () => true) / factor },
  });

/** The same in bfloat16: inputs and coefficients are rounded to it. */
export function halfPrecisionStep(longest: number, factor: number): StepBatch {
  const from = rollouts(7, longest);
  const own = {
    ...from,
    logProb: from.logProb.map(roundToBfloat16),
    old: from.old.map(roundToBfloat16),
    advantage: from.advantage.map(roundToBfloat16),
  };
  const step = simulated({
    from: own,
    settings: { precision: 'bfloat16' },
    faults: { divisor: (all) => count(all, all.mask, () => true) / factor },
  });
  return {
    ...step,
    tokens: { ...step.tokens, lossGradient: step.tokens.lossGradient!.map(roundToBfloat16) },
  };
}

/** The smallest excess of a factor over 1 that is found. */
function smallest(make: (factor: number) => StepBatch): number {
  let [missed, found] = [0, 1];
  for (let halving = 0; halving < 24; halving++) {
    const middle = missed === 0 ? found / 4 : Math.sqrt(missed * found);
    if (verifyStep(make(1 + middle)).consistent) missed = middle;
    else found = middle;
    if (missed > 0 && found / missed < 1.05) break;
  }
  return found;
}

/** A table for the documentation. */
export function powerTable(): string {
  const sizes = [14, 60, 600];
  const lines = sizes.map((longest) => {
    const tokens = verifyStep(singlePrecisionStep(longest, 1)).trained;
    const single = smallest((factor) => singlePrecisionStep(longest, factor));
    const half = smallest((factor) => halfPrecisionStep(longest, factor));
    return `| ${tokens.toLocaleString('en-US')} | ${(100 * single).toExponential(1)} % | ${(100 * half).toPrecision(2)} % |`;
  });
  return `| trained tokens | float32 | bfloat16 |\n| --- | --- | --- |\n${lines.join('\n')}`;
}
