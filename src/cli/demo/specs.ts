import type { LocalSpec } from '../../engines/local/spec.ts';
import type { ExperimentSpec } from '../../engines/registry.ts';

const ESTIMATORS: { name: string; estimator: LocalSpec['estimator'] }[] = [
  { name: 'HGPO K=2', estimator: { name: 'hgpo', historyLength: 2 } },
  { name: 'GiGPO', estimator: { name: 'gigpo' } },
  { name: 'GRPO', estimator: { name: 'grpo' } },
];

/** The demo's sweep: three estimators, everything else the same, seeds and budget included. */
export const SWEEP: ExperimentSpec[] = ESTIMATORS.map(({ name, estimator }) => ({
  name,
  engine: 'local',
  estimator,
}));

/** A recorded batch as a trainer with a fault would have reported it. */
export const FAULTY: ExperimentSpec = {
  name: 'a faulty estimator',
  engine: 'replay',
  replay: { fault: 'zero-levels-kept', batches: 1 },
};
