import { type Static, Type } from 'typebox';
import { NamedObject } from '../../schemas/objects.ts';
import { choice, count, flag, number, section } from '../../schemas/optional-fields.ts';
import { CpuResources, commonFields } from '../../schemas/spec-parts.ts';
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
export const ReplaySpec = NamedObject('ReplaySpec', {
  ...commonFields,
  resources: Type.Optional(CpuResources),
  engine: Type.Literal('replay'),
  replay: section({
    fault: choice(REPLAY_FAULTS),
    batches: count(
      0,
      100000,
      'Number of batches to stream; the recording repeats if necessary. 0 streams each recorded batch once.',
    ),
    delaySeconds: number(0, 600, 'Seconds between two batches.'),
    stopAfter: count(0, 100000, 'Number of batches after which the replay ends early; 0 means never.'),
    exitCode: count(0, 255),
    logLines: count(0, 1000000, 'Number of log lines per batch.'),
    hang: flag('Whether the replay continues after the last batch until it is stopped.'),
    ignoreSigterm: flag(),
  }),
});
export type ReplaySpec = Static<typeof ReplaySpec>;

/** A resolved {@link ReplaySpec}. */
export type ResolvedReplay = Resolved<ReplaySpec>;
