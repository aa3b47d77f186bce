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
              description: 'Batches to stream, the record being repeated; 0: as many as it holds',
            }),
          ),
          delaySeconds: Type.Optional(
            Type.Number({ minimum: 0, maximum: 600, description: 'Between two batches' }),
          ),
          stopAfter: Type.Optional(
            Type.Integer({
              minimum: 0,
              maximum: 100000,
              description: 'Ends early after so many batches; 0: does not',
            }),
          ),
          exitCode: Type.Optional(Type.Integer({ minimum: 0, maximum: 255 })),
          logLines: Type.Optional(
            Type.Integer({ minimum: 0, maximum: 1000000, description: 'Log lines with each batch' }),
          ),
          hang: Type.Optional(
            Type.Boolean({ description: 'After the last batch, goes on until it is stopped' }),
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
