import { merge } from '../../core/trees.ts';
import { assignment, type PlanValue } from '../arguments.ts';
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
  compile: (spec) => ({ arguments: valuesOf(spec).map(([key, value]) => assignment(key, value)) }),
  // The record states its own estimator.
  fingerprint: () => null,
};

function valuesOf({ replay }: ResolvedReplay): [key: string, value: PlanValue][] {
  return [
    ['fault', replay.fault],
    ['batches', replay.batches],
    ['delay_ms', Math.round(replay.delaySeconds * 1000)],
    ['stop_after', replay.stopAfter],
    ['exit_code', replay.exitCode],
    ['log_lines', replay.logLines],
    ['hang', replay.hang],
    ['ignore_sigterm', replay.ignoreSigterm],
  ];
}
