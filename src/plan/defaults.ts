import type { ResolvedLocal, ResolvedReplay } from '../schemas/spec.ts';
import { DEFAULT_RULES, presetRule } from './rule-presets.ts';

/** Values of every engine where a spec has none. */
export const COMMON_DEFAULTS = {
  project: 'default',
  cluster: null,
  clusterLabels: {},
  priority: 0,
  maxAttempts: 3,
  gracePeriodSeconds: 30,
  timeoutSeconds: null,
  deadline: null,
  secrets: {},
  rules: DEFAULT_RULES.map(presetRule),
} as const;

/** Values of the `local` engine where a spec has none; those of training are the engine's own. */
export const LOCAL_DEFAULTS: Omit<
  ResolvedLocal,
  'engine' | 'name' | 'estimator' | keyof typeof COMMON_DEFAULTS
> = {
  resources: { gpus: 0, cpus: 2 },
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

/** Values of the `replay` engine where a spec has none. */
export const REPLAY_DEFAULTS: Omit<ResolvedReplay, 'engine' | 'name' | keyof typeof COMMON_DEFAULTS> = {
  resources: { gpus: 0, cpus: 1 },
  replay: {
    fault: 'none',
    batches: 0,
    delaySeconds: 0,
    stopAfter: 0,
    exitCode: 0,
    logLines: 0,
    hang: false,
    ignoreSigterm: false,
  },
};
