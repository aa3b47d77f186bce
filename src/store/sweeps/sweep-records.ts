import { childId } from '../../core/ids.ts';
import { STATES, type State } from '../../core/states.ts';
import {
  type EarlyStopping,
  SWEEP_VERSION,
  type Sweep,
  type SweepAxis,
  type SweepMetric,
} from '../../schemas/sweep.ts';
import { toVerification } from '../experiments/record.ts';
import type { Fields } from '../redis/fields.ts';
import { inKnownLayout } from '../redis/layouts.ts';
import type { Figures, SweepChild, SweepRecord } from './types.ts';

/** The fields of a sweep's hash that a list shows. Spec and axes may be long, so they are not among them. */
export const SWEEP_FIELDS = [
  'version',
  'id',
  'name',
  'project',
  'method',
  'seed',
  'state',
  'reason',
  'count',
  'expanded',
  'earlyStopping',
  'metric',
  'comparison',
  'stoppedEarly',
  'made',
  'skipped',
  'createdAt',
  'endedAt',
  ...STATES.map((state) => `n:${state}`),
] as const;

/** A sweep from its hash; undefined if there is none. */
export function toSweep(stored: Fields): Sweep | undefined {
  if (stored.id === undefined) return undefined;
  const fields: Fields & { id: string } = { ...inKnownLayout('sweep', stored), id: stored.id };
  const number = (name: string) => Number(fields[name] ?? 0);
  const earlyStopping = fields.earlyStopping ? (JSON.parse(fields.earlyStopping) as EarlyStopping) : null;
  return {
    version: SWEEP_VERSION,
    id: fields.id,
    name: fields.name ?? '',
    project: fields.project ?? '',
    method: fields.method as Sweep['method'],
    seed: fields.seed ? Number(fields.seed) : null,
    state: fields.state as Sweep['state'],
    reason: fields.reason ?? '',
    count: number('count'),
    expanded: number('expanded') + number('made'),
    skipped: number('skipped'),
    counts: Object.fromEntries(STATES.map((state) => [state, number(`n:${state}`)])) as Record<State, number>,
    metric: metricOf(fields.metric, earlyStopping),
    earlyStopping,
    comparison: fields.comparison ? (JSON.parse(fields.comparison) as Sweep['comparison']) : null,
    stoppedEarly: number('stoppedEarly'),
    createdAt: number('createdAt'),
    endedAt: fields.endedAt === undefined ? null : Number(fields.endedAt),
  };
}

function metricOf(stated: string | undefined, earlyStopping: EarlyStopping | null): Sweep['metric'] {
  if (stated) return { goal: 'max', ...(JSON.parse(stated) as SweepMetric) };
  if (earlyStopping) return { name: earlyStopping.metric, goal: earlyStopping.goal };
  return { name: 'val/success_rate', goal: 'max' };
}

/** {@link toSweep}, with spec and axes. */
export function toSweepRecord(fields: Fields): SweepRecord | undefined {
  const sweep = toSweep(fields);
  if (sweep === undefined) return undefined;
  return {
    ...sweep,
    spec: JSON.parse(fields.spec ?? '{}'),
    axes: JSON.parse(fields.axes ?? '[]') as SweepAxis[],
    free: Number(fields.free ?? sweep.count),
    freeMade: Number(fields.expanded ?? 0),
    ends: fields.ends ?? '0',
  };
}

/** A child's values as they are stored: index of its fingerprint in the sweep, then a number for each axis. */
export function writeEntry(entry: readonly number[], fingerprint: number): string {
  return JSON.stringify([fingerprint, ...entry]);
}

/** A child from its stored values. */
export function readEntry(
  sweep: string,
  {
    index,
    run,
    text,
    fingerprints,
  }: { index: number; run: number; text: string; fingerprints: (string | null)[] },
): SweepChild {
  const [fingerprint = 0, ...entry] = JSON.parse(text) as number[];
  return {
    index,
    run,
    experiment: childId(sweep, index, run),
    state: null,
    entry,
    fingerprint: fingerprints[fingerprint] ?? null,
    after: null,
    skipped: null,
    verification: null,
  };
}

/** The fields of an experiment that {@link withFindings} reads. */
export const FINDING_FIELDS = [
  'state',
  'endedAt',
  'vBatches',
  'vVerified',
  'vSeen',
  'vExact',
  'vRounding',
  'vWrong',
  'vUnverifiable',
  'vErrors',
  'vUnreadable',
  'vDropped',
] as const;

/** A child with state and verification counts from {@link FINDING_FIELDS}; unchanged if it is no experiment yet. */
export function withFindings(child: SweepChild, values: readonly (string | null)[]): SweepChild {
  const fields: Fields = {};
  FINDING_FIELDS.forEach((name, at) => {
    if (values[at] !== null && values[at] !== undefined) fields[name] = values[at];
  });
  if (fields.state === undefined) return child;
  return { ...child, state: fields.state as State, verification: toVerification(fields) };
}

/** The fields of an experiment that {@link toFigures} reads. */
export const FIGURE_FIELDS = [
  'state',
  'startedAt',
  'endedAt',
  'gpus',
  'cpus',
  'vExact',
  'vRounding',
  'vWrong',
  'vUnverifiable',
] as const;

/** Figures of an experiment from {@link FIGURE_FIELDS} and the JSON of its metrics, in the order of `names`. */
export function toFigures(
  values: readonly (string | null)[],
  metrics: readonly (string | null)[],
  names: readonly string[],
): Figures | undefined {
  const [state, startedAt, endedAt, gpus, cpus, exact, rounding, wrong, unverifiable] = values;
  if (!state) return undefined;
  const time = (text: string | null | undefined) => (text ? Number(text) : null);
  const found: Record<string, number> = {};
  names.forEach((name, at) => {
    const value: unknown = metrics[at] ? JSON.parse(metrics[at]) : undefined;
    if (typeof value === 'number') found[name] = value;
  });
  return {
    state: state as State,
    startedAt: time(startedAt),
    endedAt: time(endedAt),
    gpus: Number(gpus ?? 0),
    cpus: Number(cpus ?? 0),
    exact: Number(exact ?? 0),
    rounding: Number(rounding ?? 0),
    wrong: Number(wrong ?? 0),
    unverifiable: Number(unverifiable ?? 0),
    metrics: found,
  };
}
