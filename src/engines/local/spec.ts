import { type Static, Type } from 'typebox';
import { oneOf } from '../../schemas/answer-parts.ts';
import { NamedObject, StrictObject } from '../../schemas/objects.ts';
import { choice, count, flag, number, positive, section } from '../../schemas/optional-fields.ts';
import { CpuResources, commonFields } from '../../schemas/spec-parts.ts';
import type { Resolved } from '../engine.ts';

/** Estimator of the advantages. Which fields count depends on `name`; a field that does not is an error. */
export const EstimatorSpec = StrictObject({
  name: oneOf(['hgpo', 'gigpo', 'grpo']),
  historyLength: count(
    0,
    64,
    'hgpo: K, the number of previous states that must also match. Default: the history length of the environment.',
  ),
  mode: choice(['mean_std_norm', 'mean_norm'], 'hgpo, gigpo: whether to divide by the standard deviation.'),
  lengthWeightAlpha: number(-16, 16, 'hgpo: exponent of the weights of longer histories.'),
  baseGroup: flag('hgpo: whether to add the comparison of whole trajectories as a level.'),
  stepAdvantageWeight: number(0, 100, 'gigpo: weight of the step advantage.'),
  normalizeByStd: flag('grpo: whether to divide by the standard deviation.'),
  gamma: number(0, 1, 'Discount factor of one environment step.'),
  invalidActionPenalty: number(
    0,
    100,
    'Penalty that is subtracted from the return of a step with an invalid action.',
  ),
});

/** A small policy trained on the CPU in a text environment of our own; needs no GPU and no weights. */
export const LocalSpec = NamedObject('LocalSpec', {
  ...commonFields,
  resources: Type.Optional(CpuResources),
  engine: Type.Literal('local'),
  estimator: EstimatorSpec,
  observations: choice(
    ['digests', 'texts'],
    'How observations are recorded: as digests only, or as texts together with the texts of the actions.',
  ),
  environment: section({
    seed: count(0, 2147483647),
    maxSteps: count(1, 200),
    historyLength: count(0, 8, "Number of previous observations in the policy's input."),
  }),
  rollout: section({
    groups: count(1, 256),
    groupSize: count(1, 256, 'Number of trajectories per group.'),
  }),
  training: section({
    steps: count(1, 100000),
    learningRate: positive(10),
    epochs: count(1, 100),
    clipRatio: positive(10),
    klCoefficient: number(0, 10),
    seed: count(0, 2147483647),
    saveEvery: count(0, 100000, 'Steps between checkpoints; 0 saves only at the end.'),
    evaluateEvery: count(
      0,
      100000,
      'Steps between evaluations; 0 evaluates only before and after the training.',
    ),
    stepDelaySeconds: number(0, 600, 'Seconds to wait in each step.'),
    captureEvery: count(
      0,
      100000,
      'Steps between captured optimizer steps, which are verified as batches of their own; 0 captures none.',
    ),
    fault: choice(
      ['none', 'token-mean-per-micro-batch', 'kl-without-gradient', 'old-log-probs-unused'],
      'Known bug of public trainers to plant in the update, for demonstrations.',
    ),
  }),
  evaluation: section({
    games: count(1, 10000),
    replicates: count(1, 100, 'Times that each game is played, with other random numbers. Default: 1.'),
  }),
});
export type EstimatorSpec = Static<typeof EstimatorSpec>;
export type LocalSpec = Static<typeof LocalSpec>;

/** A resolved {@link LocalSpec}. `estimator` has only the fields that its name uses. */
export type ResolvedLocal = Resolved<LocalSpec, 'estimator'> & { estimator: EstimatorSpec };
