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
          'hgpo: K, the number of previous states that must agree as well; as the environment has it where it is left out',
      }),
    ),
    mode: Type.Optional(
      Type.Union([Type.Literal('mean_std_norm'), Type.Literal('mean_norm')], {
        description: 'hgpo, gigpo: divide by the deviation, or not',
      }),
    ),
    lengthWeightAlpha: Type.Optional(
      Type.Number({
        minimum: -16,
        maximum: 16,
        description: 'hgpo: exponent of the weights of longer histories',
      }),
    ),
    baseGroup: Type.Optional(
      Type.Boolean({ description: 'hgpo: add the comparison of whole trajectories as a level' }),
    ),
    stepAdvantageWeight: Type.Optional(
      Type.Number({ minimum: 0, maximum: 100, description: 'gigpo: weight of the step term' }),
    ),
    normalizeByStd: Type.Optional(Type.Boolean({ description: 'grpo: divide by the deviation' })),
    gamma: Type.Optional(
      Type.Number({ minimum: 0, maximum: 1, description: 'Discount of one environment step' }),
    ),
    invalidActionPenalty: Type.Optional(
      Type.Number({
        minimum: 0,
        maximum: 100,
        description: 'Subtracted from the return of a step whose action was not valid',
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
        description: 'What of an observation leaves the cluster',
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
              description: 'Previous observations that the policy sees',
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
            Type.Integer({ minimum: 1, maximum: 256, description: 'Trajectories per group' }),
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
              description: 'Steps between checkpoints; 0: at the end only',
            }),
          ),
          evaluateEvery: Type.Optional(
            Type.Integer({
              minimum: 0,
              maximum: 100000,
              description: 'Steps between evaluations; 0: before and after only',
            }),
          ),
          stepDelaySeconds: Type.Optional(
            Type.Number({ minimum: 0, maximum: 600, description: 'Waits that long in each step' }),
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
