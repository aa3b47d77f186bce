// The formulas that the gallery's trainers claim, and the mistakes that they made, in float64 and rounded to float32 at the end.

const mean = (values: number[]): number => values.reduce((sum, value) => sum + value, 0) / values.length;

/** Sample deviation (n − 1); 0 for one value. */
function deviation(values: number[]): number {
  const centre = mean(values);
  const squares = values.reduce((sum, value) => sum + (value - centre) ** 2, 0);
  return values.length === 1 ? 0 : Math.sqrt(squares / (values.length - 1));
}

/** Values as float32 holds them. */
export const float32 = (values: number[]): number[] => values.map(Math.fround);

/** GRPO: `(r − mean) / (std + epsilon)` over the rows of each group; `overBatch`: the deviation runs over all rows. A group of one row passes through. */
export function grpo(
  rewards: number[],
  groups: readonly unknown[],
  { epsilon = 1e-6, overBatch = false } = {},
): number[] {
  return rewards.map((reward, row) => {
    const own = rewards.filter((_, other) => groups[other] === groups[row]);
    if (own.length === 1) return reward / (1 + epsilon);
    return (reward - mean(own)) / (deviation(overBatch ? rewards : own) + epsilon);
  });
}

/** GRPO against the other rows of a group, divided by `std(others) + 1e-6` if that deviation is above 0. */
export function leaveOneOut(rewards: number[], deviationOf = deviation): number[] {
  return rewards.map((reward, row) => {
    const others = rewards.filter((_, other) => other !== row);
    const spread = deviationOf(others);
    return (reward - mean(others)) / (spread > 0 ? spread + 1e-6 : 1);
  });
}

/** The deviation as `E[x²] − E[x]²` gives it in float32: for equal values a rounding error remains. */
export function cancelledDeviation(values: number[]): number {
  const f = Math.fround;
  const average = (terms: number[]) => f(terms.reduce((sum, term) => f(sum + term), 0) / terms.length);
  const centre = average(float32(values));
  const squares = average(values.map((value) => f(f(value) * f(value))));
  const variance = f(f(squares - f(centre * centre)) * f(values.length / (values.length - 1)));
  return Math.sqrt(Math.max(variance, 0));
}

/**
 * Reward-to-go of one response; masked tokens are carried over. `resetsAtMask`: a masked token ends the sum, which is the mistake.
 */
export function returnsToGo(
  rewards: number[],
  mask: number[],
  { discount, resetsAtMask = false }: { discount: number; resetsAtMask?: boolean },
): number[] {
  const returns = new Array<number>(rewards.length).fill(0);
  let running = 0;
  for (let token = rewards.length - 1; token >= 0; token--) {
    if (resetsAtMask) {
      running = rewards[token]! + discount * running;
      returns[token] = running;
      running *= mask[token]!;
    } else if (mask[token] === 1) {
      running = rewards[token]! + discount * running;
      returns[token] = running;
    }
  }
  return returns;
}

/** GAE of one response; masked tokens are carried over. `throughMask`: they count as steps, which is the mistake. */
export function gae(
  rewards: number[],
  values: number[],
  mask: number[],
  { discount, lambda, throughMask = false }: { discount: number; lambda: number; throughMask?: boolean },
): number[] {
  const advantages = new Array<number>(rewards.length).fill(0);
  let [running, next] = [0, 0];
  for (let token = rewards.length - 1; token >= 0; token--) {
    if (mask[token] === 0 && !throughMask) continue;
    running = rewards[token]! + discount * next - values[token]! + discount * lambda * running;
    next = values[token]!;
    advantages[token] = running;
  }
  return advantages;
}

/** Centres and scales the unmasked tokens of all responses together: `(a − mean) / √(var + 1e-8)`, sample variance. */
export function whiten(responses: number[][], masks: number[][]): number[][] {
  const kept = responses.flatMap((tokens, row) => tokens.filter((_, token) => masks[row]![token] === 1));
  const scale = Math.sqrt(deviation(kept) ** 2 + 1e-8);
  return responses.map((tokens, row) =>
    tokens.map((value, token) => (masks[row]![token] === 1 ? (value - mean(kept)) / scale : 0)),
  );
}
