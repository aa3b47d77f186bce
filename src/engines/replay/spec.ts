import { type Static, Type } from 'typebox';
import { commonFields } from '../../schemas/spec-parts.ts';
import { strict } from '../../schemas/strict.ts';
import type { Resolved } from '../engine.ts';

/** Faults of an estimator that `replay` can report, each as it occurred in a public trainer. */
export const REPLAY_FAULTS = [
  'none',
  'shuffled-rows',
  'sample-std',
  'zero-levels-kept',
  'groups-of-one',
  'wrong-gamma',
  'off-by-one-weights',
] as const;

/** Streams recorded batches; for demonstrations and tests. */
export const ReplaySpec = Type.Object(
  {
    ...commonFields,
    engine: Type.Literal('replay'),
    replay: Type.Optional(
      Type.Object(
        {
          fault: Type.Optional(Type.Enum([...REPLAY_FAULTS], { type: 'string' })),
          batches: Type.Optional(
            Type.Integer({
              minimum: 0,
              maximum: 100000,
              description:
                'Number of batches to stream; the recording repeats if necessary. 0 streams each recorded batch once.',
            }),
          ),
          delaySeconds: Type.Optional(
            Type.Number({ minimum: 0, maximum: 600, description: 'Seconds between two batches.' }),
          ),
          stopAfter: Type.Optional(
            Type.Integer({
              minimum: 0,
              maximum: 100000,
              description: 'Number of batches after which the replay ends early; 0 means never.',
            }),
          ),
          exitCode: Type.Optional(Type.Integer({ minimum: 0, maximum: 255 })),
          logLines: Type.Optional(
            Type.Integer({ minimum: 0, maximum: 1000000, description: 'Number of log lines per batch.' }),
          ),
          hang: Type.Optional(
            Type.Boolean({
              description: 'Whether the replay continues after the last batch until it is stopped.',
            }),
          ),
          ignoreSigterm: Type.Optional(Type.Boolean()),
        },
        strict,
      ),
    ),
  },
  { ...strict, $id: 'ReplaySpec' },
);
/** See {@link ReplaySpec}. */
export type ReplaySpec = Static<typeof ReplaySpec>;

/** A resolved {@link ReplaySpec}. */
export type ResolvedReplay = Resolved<ReplaySpec>;
