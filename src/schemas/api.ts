import { type Static, type TSchema, Type } from 'typebox';
import { STATES } from '../core/states.ts';
import { Experiment } from './experiment.ts';
import { SomeObject } from './spec-parts.ts';
import { strict } from './strict.ts';

const Count = Type.Integer({ minimum: 0 });
const Instant = Type.Integer({ description: 'Milliseconds since 1970' });

function nullable<T extends TSchema>(schema: T) {
  return Type.Union([schema, Type.Null()]);
}

const Cursor = nullable(Type.String({ description: 'Pass it on as `cursor`; null: there is no more' }));

/** A problem document (RFC 9457): every answer of status 400 and above. */
export const Problem = Type.Object(
  {
    type: Type.String({ description: 'Address of the documentation of this error' }),
    title: Type.String(),
    status: Type.Integer(),
    detail: Type.String({ description: 'What is wrong this time, in a sentence' }),
    code: Type.String({ description: 'Stable name of the error' }),
    retry: Type.Boolean({ description: 'The same request may succeed later, unchanged' }),
    problems: Type.Array(
      Type.Object(
        {
          field: Type.String({ description: "JSON pointer into the body, or a parameter's name" }),
          message: Type.String(),
        },
        strict,
      ),
    ),
  },
  { ...strict, $id: 'Problem' },
);
/** See {@link Problem}. */
export type Problem = Static<typeof Problem>;

/** The answer to an accepted experiment; equal for every repetition of the request with its Idempotency-Key. */
export const Accepted = Type.Object(
  {
    id: Type.String(),
    self: Type.String({ description: 'Path of the experiment' }),
    events: Type.String({ description: 'Path of its events' }),
  },
  { ...strict, $id: 'Accepted' },
);
/** See {@link Accepted}. */
export type Accepted = Static<typeof Accepted>;

/** When an experiment that waits is expected to start. */
const StartEstimate = Type.Object(
  {
    startAt: Type.Integer({ description: 'Most likely; milliseconds since 1970' }),
    earliest: Instant,
    latest: Instant,
  },
  {
    ...strict,
    description:
      'From the measured lengths of steps: the line is played forward over the expected ends of those that run',
  },
);

/** Of one that waits: its estimate, or why there is none. */
const waitingFields = {
  estimate: nullable(StartEstimate),
  noEstimate: nullable(Type.String({ description: 'Why there is no estimate; null where there is one' })),
};

/** Who paused something, when and why. */
const PauseView = Type.Object(
  {
    by: Type.String({ description: 'Name of the caller' }),
    at: Instant,
    reason: nullable(Type.String()),
  },
  strict,
);

/** A queue after it was paused, closed or resumed. */
export const QueuePause = Type.Object(
  {
    queue: Type.String({ description: "A project's name; _all for all projects" }),
    paused: nullable(PauseView),
    closed: nullable(PauseView),
  },
  { ...strict, $id: 'QueuePause' },
);

/** An experiment, with its place in the line. */
export const ExperimentDetail = Type.Object(
  {
    ...Experiment.properties,
    position: nullable(
      Type.Object(
        {
          rank: Type.Integer({ minimum: 1, description: 'Place in the line, from 1' }),
          length: Type.Integer({ minimum: 1, description: 'Number of those who wait' }),
        },
        { ...strict, description: 'Null where it does not wait' },
      ),
    ),
    waitReason: nullable(
      Type.String({ description: 'Why it waits, as the last choice said; null where it does not wait' }),
    ),
    ...waitingFields,
  },
  { ...strict, $id: 'ExperimentDetail' },
);
/** See {@link ExperimentDetail}. */
export type ExperimentDetail = Static<typeof ExperimentDetail>;

/** A page of experiments, newest first. */
export const ExperimentPage = Type.Object(
  { items: Type.Array(Type.Unsafe<Experiment>({ $ref: 'Experiment#' })), next: Cursor },
  { ...strict, $id: 'ExperimentPage' },
);

/** One attempt of an experiment. */
export const AttemptView = Type.Object(
  {
    attempt: Type.Integer({ minimum: 1 }),
    cluster: Type.String(),
    claimedAt: Instant,
    confirmedAt: nullable(Type.Integer({ description: 'When the launch was confirmed; null: not yet' })),
    lastSequence: Type.Integer({ minimum: 0, description: 'Number of its last recorded event' }),
    ended: Type.Unsafe<unknown>({
      type: ['object', 'null'],
      additionalProperties: true,
      description: 'How its driver ended, as its last event says; null: it has not',
    }),
  },
  { ...strict, $id: 'Attempt' },
);

/** All attempts of an experiment, from the first. */
export const AttemptList = Type.Object(
  { items: Type.Array(Type.Unsafe<Static<typeof AttemptView>>({ $ref: 'Attempt#' })) },
  { ...strict, $id: 'AttemptList' },
);
/** See {@link AttemptList}. */
export type AttemptList = Static<typeof AttemptList>;

/** The verification of an experiment: its counters, and a page of its batches with their reports. */
export const Verification = Type.Object(
  {
    counts: Experiment.properties.verification,
    items: Type.Array(
      Type.Object(
        {
          attempt: Count,
          batch: Count,
          step: Count,
          rows: Count,
          digest: Type.String({ description: 'SHA-256 of the serialized batch' }),
          report: Type.Union([Type.Unsafe<unknown>({ $ref: 'BatchReport#' }), Type.Null()], {
            description: 'Null: still to come',
          }),
        },
        strict,
      ),
    ),
    next: Cursor,
  },
  { ...strict, $id: 'Verification' },
);

/** How one row's advantage comes about, recomputed. */
export const Explanation = Type.Object(
  {
    attempt: Count,
    batch: Count,
    step: Count,
    row: Count,
    explanation: SomeObject('Groups, clusters and weights behind the number'),
  },
  { ...strict, $id: 'Explanation' },
);

/** A cluster with its resources: total, used according to Ray, and allocated by Echelon. It contains no secret. */
export const ClusterView = Type.Object(
  {
    name: Type.String(),
    address: Type.String({ description: 'host:port of its ray-worker' }),
    tls: Type.Boolean({ description: 'The way to the ray-worker is encrypted' }),
    rayAddress: nullable(
      Type.String({ description: "ray://host:port of Ray; null: made known by its ray-worker's address" }),
    ),
    rayVersion: nullable(Type.String({ description: 'As last seen' })),
    rayWorkerVersion: nullable(Type.String({ description: 'As last seen' })),
    sharedRoot: nullable(Type.String({ description: 'The directory that all its nodes see, as last seen' })),
    draining: Type.Boolean({ description: 'No experiment starts there; running experiments continue' }),
    answering: Type.Boolean({ description: 'Its ray-worker has answered a dispatcher lately' }),
    backfill: Type.Boolean({
      description: 'Others may overtake one that does not fit, where they do not delay its estimated start',
    }),
    labels: Type.Record(Type.String(), Type.String(), { description: 'What experiments choose it by' }),
    codePaths: Type.Array(Type.String(), {
      description: 'Directories from which specs may load code with a key that lacks the scope custom-code',
    }),
    paused: nullable(PauseView),
    lastSeenAt: nullable(
      Type.Integer({ description: 'When its ray-worker last answered a dispatcher; ms since 1970' }),
    ),
    nodes: Type.Array(
      Type.Object(
        {
          id: Type.String(),
          cpusTotal: Type.Number(),
          gpusTotal: Type.Number(),
          cpusUsed: Type.Number({ description: 'Used according to Ray' }),
          gpusUsed: Type.Number({ description: 'Used according to Ray' }),
          cpusAllocated: Type.Number({ description: 'Allocated by Echelon' }),
          gpusAllocated: Type.Number({ description: 'Allocated by Echelon' }),
        },
        strict,
      ),
    ),
    experiments: Type.Array(Type.String(), { description: 'Experiments with an allocation on this cluster' }),
  },
  { ...strict, $id: 'Cluster' },
);
/** See {@link ClusterView}. */
export type ClusterView = Static<typeof ClusterView>;

/** All clusters, by name. */
export const ClusterList = Type.Object(
  { items: Type.Array(Type.Unsafe<ClusterView>({ $ref: 'Cluster#' })) },
  { ...strict, $id: 'ClusterList' },
);

const byQueue = {
  all: nullable(PauseView),
  projects: Type.Record(Type.String(), PauseView, { description: 'By the name of the project' }),
};

/** The line and what stands behind it. */
export const QueueView = Type.Object(
  {
    counts: Type.Object(
      Object.fromEntries(STATES.map((state) => [state, Count])) as Record<
        (typeof STATES)[number],
        typeof Count
      >,
      { ...strict, description: 'Experiments by state' },
    ),
    accepting: Type.Boolean({ description: 'New experiments are accepted: the store has room' }),
    length: Type.Integer({ minimum: 0, description: 'Number of those who wait' }),
    items: Type.Array(
      Type.Object(
        {
          position: Type.Integer({ minimum: 1, description: 'Place in the line, from 1' }),
          experiment: Type.String(),
          name: Type.String(),
          project: Type.String(),
          priority: Type.Integer(),
          cluster: nullable(Type.String()),
          gpus: Type.Number(),
          cpus: Type.Number(),
          submittedAt: Instant,
          waitReason: nullable(
            Type.String({
              description: 'Why the experiment is still queued; null before the first scheduling round',
            }),
          ),
          ...waitingFields,
        },
        strict,
      ),
      { description: 'A page of queued experiments, in queue order' },
    ),
    next: Cursor,
    paused: Type.Object(byQueue, {
      ...strict,
      description: 'Paused queues, from which no experiment starts; null or absent if not paused',
    }),
    closed: Type.Object(byQueue, {
      ...strict,
      description: 'Closed queues, which accept no new experiments; null or absent if open',
    }),
    verificationBacklog: Type.Integer({ minimum: 0, description: 'Batches without a report' }),
    clusters: Type.Array(Type.Unsafe<ClusterView>({ $ref: 'Cluster#' })),
  },
  { ...strict, $id: 'Queue' },
);
