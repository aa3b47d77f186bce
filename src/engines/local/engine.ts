import { fingerprint } from 'echelon-verify/kernel/estimators/fingerprint';
import { merge } from '../../core/trees.ts';
import { assignment, type PlanValue } from '../arguments.ts';
import { COMMON_DEFAULTS } from '../common-defaults.ts';
import type { Engine } from '../engine.ts';
import { LOCAL_DEFAULTS } from './defaults.ts';
import { completeEstimator, ESTIMATOR_FIELDS, unusedFields } from './estimator-fields.ts';
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
  compile: (spec) => ({ arguments: valuesOf(spec).map(([key, value]) => assignment(key, value)) }),
  fingerprint({ estimator: { name, gamma: _gamma, invalidActionPenalty: _penalty, ...parameters } }) {
    return fingerprint(name, parameters);
  },
  memory: { host: { lower: ['/rollout/groups', '/rollout/groupSize', '/environment/maxSteps'] } },
};

type Values = [key: string, value: PlanValue][];

function valuesOf(spec: ResolvedLocal): Values {
  const { estimator, environment, rollout, training, evaluation } = spec;
  return [
    ['estimator.name', estimator.name],
    ...ESTIMATOR_FIELDS[estimator.name].map((field): Values[number] => [
      `estimator.${snakeCase(field)}`,
      estimator[field]!,
    ]),
    ['environment.seed', environment.seed],
    ['environment.max_steps', environment.maxSteps],
    ['environment.history_length', environment.historyLength],
    ['rollout.groups', rollout.groups],
    ['rollout.group_size', rollout.groupSize],
    ['training.steps', training.steps],
    ['training.learning_rate', training.learningRate],
    ['training.epochs', training.epochs],
    ['training.clip_ratio', training.clipRatio],
    ['training.kl_coefficient', training.klCoefficient],
    ['training.seed', training.seed],
    ['training.evaluate_every', training.evaluateEvery],
    ['training.save_every', training.saveEvery],
    ['evaluation.games', evaluation.games],
    ['observations', spec.observations],
    ['step_delay_ms', Math.round(training.stepDelaySeconds * 1000)],
    ['experiment_dir', '{experimentDir}'],
  ];
}

function snakeCase(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}
