import { merge } from '../../core/trees.ts';
import { COMMON_DEFAULTS } from '../common-defaults.ts';
import type { Engine } from '../engine.ts';
import { ReplaySpec, type ResolvedReplay } from './spec.ts';

/** Values of the `replay` engine where a spec has none. */
const REPLAY_DEFAULTS: Omit<ResolvedReplay, 'engine' | 'name' | keyof typeof COMMON_DEFAULTS> = {
  resources: { nodes: 1, gpus: 0, cpus: 1 },
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
