import { type Static, Type } from 'typebox';
import { merge } from '../../../src/core/trees.ts';
import { COMMON_DEFAULTS } from '../../../src/engines/common-defaults.ts';
import type { Engine, Resolved } from '../../../src/engines/engine.ts';
import { NamedObject } from '../../../src/schemas/objects.ts';
import { count } from '../../../src/schemas/optional-fields.ts';
import { commonFields } from '../../../src/schemas/spec-parts.ts';

const CountdownSpec = NamedObject('CountdownSpec', {
  ...commonFields,
  engine: Type.Literal('countdown'),
  from: count(1, 1000, 'The first number'),
});
type CountdownSpec = Static<typeof CountdownSpec>;
type ResolvedCountdown = Resolved<CountdownSpec>;

const DEFAULTS = { ...COMMON_DEFAULTS, resources: { gpus: 0, cpus: 1 }, from: 3 };

/** Counts down to 1, one number a step. */
export const COUNTDOWN: Engine<CountdownSpec, ResolvedCountdown> = {
  name: 'countdown',
  summary: 'Counts down to 1, one number a step.',
  schema: CountdownSpec,
  example: { engine: 'countdown', name: 'from five', from: 5 },
  problems: () => [],
  customCode: () => false,
  resolve: (spec) => merge(DEFAULTS, spec) as unknown as ResolvedCountdown,
  fingerprint: () => null,
};
