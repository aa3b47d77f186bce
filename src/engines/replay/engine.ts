import { type Static, Type } from 'typebox';
import { merge } from '../../core/trees.ts';
import { NamedObject } from '../../schemas/objects.ts';
import { choice, count, flag, number, section } from '../../schemas/optional-fields.ts';
import { CpuResources, commonFields } from '../../schemas/spec-parts.ts';
import { COMMON_DEFAULTS } from '../common-defaults.ts';
import type { Engine, Resolved } from '../engine.ts';

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
const ReplaySpec = NamedObject('ReplaySpec', {
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
type ReplaySpec = Static<typeof ReplaySpec>;

/** A resolved {@link ReplaySpec}. */
type ResolvedReplay = Resolved<ReplaySpec>;

/** Values of the `replay` engine where a spec has none. */
const REPLAY_DEFAULTS: Omit<ResolvedReplay, 'engine' | 'name' | keyof typeof COMMON_DEFAULTS> = {
  resources: { nodes: 1, gpus: 0, cpus: 1, nodeLabels: {} },
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

/** Streams recorded batches. */
export const REPLAY: Engine<ReplaySpec, ResolvedReplay> = {
  name: 'replay',
  summary: 'Streams recorded batches, optionally as a faulty estimator would report them.',
  schema: ReplaySpec,
  example: { engine: 'replay', name: 'my first one' },
  problems: () => [],
  customCode: () => false,
  resolve: (spec) => merge({ ...COMMON_DEFAULTS, ...REPLAY_DEFAULTS }, spec) as unknown as ResolvedReplay,
  // The record states its own estimator.
  fingerprint: () => null,
};
