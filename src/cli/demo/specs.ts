import type { ExperimentSpec, LocalSpec } from 'echelon-client/calls';

const ESTIMATORS: { name: string; estimator: LocalSpec['estimator'] }[] = [
  { name: 'HGPO K=2', estimator: { name: 'hgpo', historyLength: 2 } },
  { name: 'GiGPO', estimator: { name: 'gigpo' } },
  { name: 'GRPO', estimator: { name: 'grpo' } },
];

/** The demo's experiments: three estimators with otherwise equal specs, seeds and budgets. */
export const SWEEP: ExperimentSpec[] = ESTIMATORS.map(({ name, estimator }) => ({
  name,
  engine: 'local',
  estimator,
}));

/** A recorded batch as a faulty trainer would have reported it. */
export const FAULTY: ExperimentSpec = {
  name: 'a faulty estimator',
  engine: 'replay',
  replay: { fault: 'zero-levels-kept', batches: 1 },
};
