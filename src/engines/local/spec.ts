import { type Static, Type } from 'typebox';
import { commonFields } from '../../schemas/spec-parts.ts';
import { strict } from '../../schemas/strict.ts';
import type { Resolved } from '../engine.ts';

/** Estimator of the advantages. Which fields count depends on `name`; a field that does not is an error. */
export const EstimatorSpec = Type.Object(
  {
    name: Type.Union([Type.Literal('hgpo'), Type.Literal('gigpo'), Type.Literal('grpo')]),
    historyLength: Type.Optional(
      Type.Integer({
        minimum: 0,
        maximum: 64,
        description:
          'hgpo: K, the number of previous states that must also match. Default: the history length of the environment.',
      }),
    ),
    mode: Type.Optional(
      Type.Union([Type.Literal('mean_std_norm'), Type.Literal('mean_norm')], {
        description: 'hgpo, gigpo: whether to divide by the standard deviation.',
      }),
    ),
    lengthWeightAlpha: Type.Optional(
      Type.Number({
        minimum: -16,
        maximum: 16,
        description: 'hgpo: exponent of the weights of longer histories.',
      }),
    ),
    baseGroup: Type.Optional(
      Type.Boolean({ description: 'hgpo: whether to add the comparison of whole trajectories as a level.' }),
    ),
    stepAdvantageWeight: Type.Optional(
      Type.Number({ minimum: 0, maximum: 100, description: 'gigpo: weight of the step advantage.' }),
    ),
    normalizeByStd: Type.Optional(
      Type.Boolean({ description: 'grpo: whether to divide by the standard deviation.' }),
    ),
    gamma: Type.Optional(
      Type.Number({ minimum: 0, maximum: 1, description: 'Discount factor of one environment step.' }),
    ),
    invalidActionPenalty: Type.Optional(
      Type.Number({
        minimum: 0,
        maximum: 100,
        description: 'Penalty that is subtracted from the return of a step with an invalid action.',
      }),
    ),
  },
  strict,
);

/** A small policy trained on the CPU in a text environment of our own; needs no GPU and no weights. */
export const LocalSpec = Type.Object(
  {
    ...commonFields,
    engine: Type.Literal('local'),
    estimator: EstimatorSpec,
    observations: Type.Optional(
      Type.Union([Type.Literal('digests'), Type.Literal('texts')], {
        description:
          'How observations are recorded: as digests only, or as texts together with the texts of the actions.',
      }),
    ),
    environment: Type.Optional(
      Type.Object(
        {
          seed: Type.Optional(Type.Integer({ minimum: 0, maximum: 2147483647 })),
          maxSteps: Type.Optional(Type.Integer({ minimum: 1, maximum: 200 })),
          historyLength: Type.Optional(
            Type.Integer({
              minimum: 0,
              maximum: 8,
              description: "Number of previous observations in the policy's input.",
            }),
          ),
        },
        strict,
      ),
    ),
    rollout: Type.Optional(
      Type.Object(
        {
          groups: Type.Optional(Type.Integer({ minimum: 1, maximum: 256 })),
          groupSize: Type.Optional(
            Type.Integer({ minimum: 1, maximum: 256, description: 'Number of trajectories per group.' }),
          ),
        },
        strict,
      ),
    ),
    training: Type.Optional(
      Type.Object(
        {
          steps: Type.Optional(Type.Integer({ minimum: 1, maximum: 100000 })),
          learningRate: Type.Optional(Type.Number({ exclusiveMinimum: 0, maximum: 10 })),
          epochs: Type.Optional(Type.Integer({ minimum: 1, maximum: 100 })),
          clipRatio: Type.Optional(Type.Number({ exclusiveMinimum: 0, maximum: 10 })),
          klCoefficient: Type.Optional(Type.Number({ minimum: 0, maximum: 10 })),
          seed: Type.Optional(Type.Integer({ minimum: 0, maximum: 2147483647 })),
          saveEvery: Type.Optional(
            Type.Integer({
              minimum: 0,
              maximum: 100000,
              description: 'Steps between checkpoints; 0 saves only at the end.',
            }),
          ),
          evaluateEvery: Type.Optional(
            Type.Integer({
              minimum: 0,
              maximum: 100000,
              description: 'Steps between evaluations; 0 evaluates only before and after the training.',
            }),
          ),
          stepDelaySeconds: Type.Optional(
            Type.Number({ minimum: 0, maximum: 600, description: 'Seconds to wait in each step.' }),
          ),
        },
        strict,
      ),
    ),
    evaluation: Type.Optional(
      Type.Object({ games: Type.Optional(Type.Integer({ minimum: 1, maximum: 10000 })) }, strict),
    ),
  },
  { ...strict, $id: 'LocalSpec' },
);
/** See {@link EstimatorSpec}. */
export type EstimatorSpec = Static<typeof EstimatorSpec>;
/** See {@link LocalSpec}. */
export type LocalSpec = Static<typeof LocalSpec>;

/** A resolved {@link LocalSpec}. `estimator` has only the fields that its name uses. */
export type ResolvedLocal = Resolved<LocalSpec, 'estimator'> & { estimator: EstimatorSpec };
