import { merge } from '../../core/trees.ts';
import { COMMON_DEFAULTS } from '../common-defaults.ts';
import type { Engine } from '../engine.ts';
import { REPLAY_DEFAULTS } from './defaults.ts';
import { ReplaySpec, type ResolvedReplay } from './spec.ts';

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
