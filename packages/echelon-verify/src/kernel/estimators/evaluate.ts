import { runStages } from '../stages/chain.ts';
import type { Estimator, EstimatorInput } from './estimator.ts';
import { tokenStageInput } from './token-chain.ts';

/**
 * One advantage per row, float64; one per token if the estimator uses tokens. Throws a TypeError if the input lacks a column, and a
 * RangeError on unequal columns and too large groups.
 */
export function evaluate<P>(estimator: Estimator<P>, input: EstimatorInput, p: P): Float64Array {
  if (estimator.evaluate !== undefined) return estimator.evaluate(input, p);
  const plan = estimator.rowPlan(p);
  if (!('stages' in plan))
    throw new TypeError(`the estimator ${estimator.name} is no chain: it needs evaluate()`);
  const { steps, score, responseLength, rewards, tokens } = input;
  const absent = (name: string) => (): never => {
    throw new TypeError(`the estimator needs ${name}`);
  };
  if (estimator.uses(p).tokens !== undefined)
    return runStages(plan, tokenStageInput((tokens ?? absent('the tokens of each row'))()));
  return runStages(plan, {
    group: steps.group,
    trajectory: steps.trajectory,
    score,
    tokens: responseLength ?? absent('response lengths'),
    rewards: rewards ?? absent('the columns of the reward functions'),
  });
}
