import { fingerprint } from 'echelon-verify/kernel';
import { merge } from '../../core/trees.ts';
import { COMMON_DEFAULTS } from '../common-defaults.ts';
import type { Engine } from '../engine.ts';
import { completeEstimator, unusedFields } from './estimator-fields.ts';
import { LocalSpec, type ResolvedLocal } from './spec.ts';

/** Values of the `local` engine where a spec has none; those of training are the engine's own. */
const LOCAL_DEFAULTS: Omit<ResolvedLocal, 'engine' | 'name' | 'estimator' | keyof typeof COMMON_DEFAULTS> = {
  resources: { nodes: 1, gpus: 0, cpus: 2, nodeLabels: {} },
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
    captureEvery: 10,
    fault: 'none',
  },
  evaluation: { games: 100, replicates: 1 },
};

/** Trains a small policy on the CPU. */
export const LOCAL: Engine<LocalSpec, ResolvedLocal> = {
  name: 'local',
  summary: 'Trains a small policy on the CPU in a text environment; needs no GPU and no model weights.',
  schema: LocalSpec,
  example: { engine: 'local', name: 'hgpo, two seeds', estimator: { name: 'hgpo', historyLength: 2 } },
  problems: ({ estimator }) => unusedFields(estimator),
  customCode: () => false,
  resolve(spec) {
    const filled = merge({ ...COMMON_DEFAULTS, ...LOCAL_DEFAULTS }, spec) as unknown as ResolvedLocal;
    return { ...filled, estimator: completeEstimator(spec.estimator, filled.environment) };
  },
  fingerprint({ estimator: { name, gamma: _gamma, invalidActionPenalty: _penalty, ...parameters } }) {
    return fingerprint(name, parameters);
  },
  memory: { host: { lower: ['/rollout/groups', '/rollout/groupSize', '/environment/maxSteps'] } },
};
