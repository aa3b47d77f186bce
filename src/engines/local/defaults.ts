import type { COMMON_DEFAULTS } from '../common-defaults.ts';
import type { ResolvedLocal } from './spec.ts';

/** Values of the `local` engine where a spec has none; those of training are the engine's own. */
export const LOCAL_DEFAULTS: Omit<
  ResolvedLocal,
  'engine' | 'name' | 'estimator' | keyof typeof COMMON_DEFAULTS
> = {
  resources: { nodes: 1, gpus: 0, cpus: 2 },
  observations: 'digests',
  environment: { seed: 1, maxSteps: 30, historyLength: 2 },
  rollout: { groups: 8, groupSize: 8 },
  training: {
    steps: 150,
    learningRate: 0.03,
    epochs: 2,
    clipRatio: 0.2,
    klCoefficient: 0.001,
    seed: 1,
    saveEvery: 10,
    evaluateEvery: 0,
    stepDelaySeconds: 0,
  },
  evaluation: { games: 100 },
};
