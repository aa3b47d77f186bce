import type { EstimatorName, EstimatorParameters } from './fingerprint.ts';
import { gigpo } from './gigpo.ts';
import { grpo } from './grpo.ts';
import { hgpo } from './hgpo.ts';
import { rloo } from './rloo.ts';
import type { StepColumns } from './steps.ts';

/** What an estimator may need. The two columns throw where the batch lacks them, and only if they are asked for. */
export interface EstimatorInput {
  readonly steps: StepColumns;
  stepReturn(): Float64Array;
  score(): Float64Array;
}

/** All estimators, by name: this map is the whole list. */
export const ESTIMATORS: {
  readonly [N in EstimatorName]: (
    input: EstimatorInput,
    parameters: Partial<EstimatorParameters[N]>,
  ) => Float64Array;
} = {
  hgpo: (input, p) => hgpo(input.steps, input.stepReturn(), p, p.baseGroup ? input.score() : undefined),
  gigpo: (input, p) => gigpo(input.steps, input.stepReturn(), input.score(), p),
  grpo: (input, p) => grpo(input.steps.group, input.score(), p, input.steps.trajectory),
  rloo: (input, p) => rloo(input.steps.group, input.score(), p, input.steps.trajectory),
};

/** The estimators' names, in the order in which they are listed to people. */
export const ESTIMATOR_NAMES = Object.keys(ESTIMATORS) as readonly EstimatorName[];

/** True where `name` is an estimator's. */
export function isEstimatorName(name: string): name is EstimatorName {
  return Object.hasOwn(ESTIMATORS, name);
}
