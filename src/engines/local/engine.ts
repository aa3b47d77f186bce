import { fingerprint } from 'echelon-verify/kernel/estimators/fingerprint';
import { merge } from '../../core/trees.ts';
import { COMMON_DEFAULTS } from '../common-defaults.ts';
import type { Engine } from '../engine.ts';
import { LOCAL_DEFAULTS } from './defaults.ts';
import { completeEstimator, unusedFields } from './estimator-fields.ts';
import { LocalSpec, type ResolvedLocal } from './spec.ts';

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
