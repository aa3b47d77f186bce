import { checkLength, idCount } from './sets/steps.ts';

/** What the returns are made of. Rows of one trajectory stand in time order, as everywhere. */
export interface RewardColumns {
  readonly trajectory: Int32Array;
  /** The environment's reward of each step. */
  readonly reward: Float64Array;
  /** 0 if the penalty applies. Omitted: every action was valid. */
  readonly actionValid?: Uint8Array | undefined;
}

/** γ of the discount, and what an invalid action costs. */
export interface ReturnParameters {
  readonly gamma: number;
  readonly invalidActionPenalty: number;
}

/**
 * Discounted step returns with the invalid-action penalty (verl-agent, recipe/hgpo: the penalty is taken off
 * after discounting, so that it does not reach the steps before).
 *
 *   R_t = r_t + γ·R_{t+1}, R_T = r_T;  G_t = R_t − penalty if the action of t was invalid, else R_t
 *
 * One pass from the back, float64, one return per row. Nothing is bootstrapped at a truncated end. Throws a
 * RangeError on unequal columns or negative ids.
 */
export function stepReturns(columns: RewardColumns, parameters: ReturnParameters): Float64Array {
  const { trajectory, reward, actionValid } = columns;
  const { gamma, invalidActionPenalty } = parameters;
  checkLength('reward', reward, trajectory.length);
  if (actionValid !== undefined) checkLength('actionValid', actionValid, trajectory.length);
  const ahead = new Float64Array(idCount('trajectory', trajectory));
  const seen = new Uint8Array(ahead.length);
  const returns = new Float64Array(trajectory.length);
  for (let row = trajectory.length - 1; row >= 0; row--) {
    const t = trajectory[row]!;
    // γ·0 would turn an infinite γ into NaN, and the last reward must come through as it is.
    const value = seen[t] === 0 ? reward[row]! : reward[row]! + gamma * ahead[t]!;
    seen[t] = 1;
    ahead[t] = value;
    returns[row] = actionValid !== undefined && actionValid[row] === 0 ? value - invalidActionPenalty : value;
  }
  return returns;
}
