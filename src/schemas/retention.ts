import { type Static, Type } from 'typebox';
import { Count, CountOf, nullable } from './answer-parts.ts';
import { DescribedObject, NamedObject, StrictObject } from './objects.ts';

const DAY_MS = 24 * 3600 * 1000;

/** What retention deletes, in the order in which it may go: a thing never outlives the one that it belongs to. */
export const RETENTION_STAGES = ['batches', 'streams', 'records'] as const;
/** One of {@link RETENTION_STAGES}. */
export type RetentionStage = (typeof RETENTION_STAGES)[number];

const Days = (what: string) =>
  Type.Optional(
    nullable(Type.Integer({ minimum: 0, maximum: 36_500 }), {
      description: `Days after an experiment's end for which ${what}; null: forever`,
    }),
  );

/** A backup that is restored takes attempts for running that have ended since; clusters must know of them so long. */
const MIN_LOG_DAYS = 7;

/** How long a project keeps what its experiments leave; omitted fields have defaults. */
export const Retention = StrictObject({
  batchesDays: Days('the bytes of its batches are kept (default 30)'),
  streamsDays: Days('its events, logs, metrics and reports are kept (default 90)'),
  recordsDays: Days('its record is kept (default 730)'),
  eventLogsDays: Type.Optional(
    nullable(Type.Integer({ minimum: MIN_LOG_DAYS, maximum: 36_500 }), {
      description:
        "Days after an experiment's end for which the clusters that ran it keep its event logs (default 7, which a restore of a backup needs); null: as long as its record",
    }),
  ),
});
export type Retention = Static<typeof Retention>;

/** What holds where a project says nothing: everything ends one day, so that Redis does not fill by itself. */
export const DEFAULT_RETENTION = {
  batchesDays: 30,
  streamsDays: 90,
  recordsDays: 730,
  eventLogsDays: MIN_LOG_DAYS,
} as const;

/** A policy without gaps: days by stage, null forever. */
type RetentionPolicy = Record<RetentionStage, number | null>;

/**
 * What holds for a project: its own values over the defaults. What belongs to something goes with it at the latest:
 * batches with their stream, a stream with its record.
 */
export function policyOf(retention: unknown): RetentionPolicy {
  const given = { ...DEFAULT_RETENTION, ...(retention as Retention | null) };
  const records = given.recordsDays ?? null;
  const streams = shorter(given.streamsDays ?? null, records);
  return { batches: shorter(given.batchesDays ?? null, streams), streams, records };
}

/** Days for which clusters keep an experiment's event logs, with its record at the latest; null: forever. */
export function eventLogDaysOf(retention: unknown): number | null {
  const { eventLogsDays } = { ...DEFAULT_RETENTION, ...(retention as Retention | null) };
  const days = shorter(eventLogsDays ?? null, policyOf(retention).records);
  return days === null ? null : Math.max(days, MIN_LOG_DAYS);
}

function shorter(one: number | null, other: number | null): number | null {
  if (one === null || other === null) return one ?? other;
  return Math.min(one, other);
}

/** For each stage the time (ms) before which an experiment must have ended; null: nothing is due. */
export function cutoffsOf(policy: RetentionPolicy, now: number): Record<RetentionStage, number | null> {
  const cutoff = (days: number | null) => (days === null ? null : now - days * DAY_MS);
  return {
    batches: cutoff(policy.batches),
    streams: cutoff(policy.streams),
    records: cutoff(policy.records),
  };
}

/** What retention would delete of a project now. */
export const RetentionPreview = NamedObject('RetentionPreview', {
  project: Type.String(),
  at: Type.Integer({ description: 'Time of the preview, in ms since 1970.' }),
  stages: Type.Array(
    StrictObject({
      stage: Type.Enum([...RETENTION_STAGES], { type: 'string' }),
      days: nullable(Count, { description: 'Retention in days; null means forever.' }),
      endedBefore: nullable(Type.Integer(), {
        description:
          'Experiments that ended before this time (ms since 1970) are due; null if none is ever due.',
      }),
      experiments: CountOf('Number of experiments that lose this data.'),
      bytes: CountOf('Size of this data in the archive, in bytes.'),
      complete: Type.Boolean({
        description: 'If false, `bytes` counts only the experiments that ended first.',
      }),
      first: Type.Array(Type.String(), {
        description: 'The due experiments that ended first, at most ten.',
      }),
    }),
  ),
  eventLogs: DescribedObject('Event logs on the clusters.', {
    days: nullable(Count, { description: 'Retention in days; null means forever.' }),
    endedBefore: nullable(Type.Integer(), {
      description:
        'Event logs of experiments that ended before this time (ms since 1970) are due; null if none is ever due.',
    }),
    experiments: CountOf('Number of experiments whose event logs are due.'),
    complete: Type.Boolean({ description: 'If false, there may be more.' }),
  }),
  retained: CountOf('Due batches that are not deleted because a rule retains them'),
});
export type RetentionPreview = Static<typeof RetentionPreview>;
