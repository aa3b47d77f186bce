import { type Static, Type } from 'typebox';
import { STATES } from '../core/states.ts';
import { Count, Cursor, Instant, nullable } from './answer-parts.ts';
import { SeenSecretProjects } from './cluster-secrets.ts';
import { Experiment } from './experiment.ts';
import { SomeObject } from './spec-parts.ts';
import { strict } from './strict.ts';

/** A problem document (RFC 9457): every answer of status 400 and above. */
export const Problem = Type.Object(
  {
    type: Type.String({ description: 'URL of the documentation of the error.' }),
    title: Type.String(),
    status: Type.Integer(),
    detail: Type.String({ description: 'What went wrong and the remedy, in one or two sentences.' }),
    code: Type.String({ description: 'Stable code of the error.' }),
    retry: Type.Boolean({ description: 'Whether the same request may succeed later.' }),
    problems: Type.Array(
      Type.Object(
        {
          field: Type.String({ description: 'JSON pointer into the body, or the name of a parameter.' }),
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
    self: Type.String({ description: 'Path of the experiment.' }),
    events: Type.String({ description: "Path of the experiment's event stream." }),
  },
  { ...strict, $id: 'Accepted' },
);
/** See {@link Accepted}. */
export type Accepted = Static<typeof Accepted>;

/** When an experiment that waits is expected to start. */
const StartEstimate = Type.Object(
  {
    startAt: Type.Integer({ description: 'Most likely start, in ms since 1970.' }),
    earliest: Instant,
    latest: Instant,
  },
  {
    ...strict,
    description:
      'Estimated start. The estimate simulates the queue over the expected ends of running experiments, from measured step durations.',
  },
);

/** Of one that waits: its estimate, or why there is none. */
const estimateFields = {
  estimate: nullable(StartEstimate),
  noEstimate: nullable(Type.String({ description: 'Why there is no estimate; null if there is one.' })),
};

/** Where an experiment that waits is expected to start. */
const placeField = {
  place: nullable(
    Type.Object(
      {
        cluster: Type.String(),
        nodes: Type.Array(Type.String(), { description: 'Ids of the nodes in Ray.' }),
        endAt: nullable(
          Type.Integer({ description: 'Expected end, in ms since 1970; null if the run time is not known.' }),
        ),
        isHead: Type.Boolean({
          description: 'Whether it is the blocked head of a cluster: its start there is reserved.',
        }),
      },
      { ...strict, description: 'Where the experiment is expected to start; null without an estimate.' },
    ),
  ),
};

/** Who paused something, when and why. */
const PauseView = Type.Object(
  {
    by: Type.String({ description: 'Name of the caller.' }),
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

/** An experiment with its queue position. */
export const ExperimentDetail = Type.Object(
  {
    ...Experiment.properties,
    position: nullable(
      Type.Object(
        {
          rank: Type.Integer({ minimum: 1, description: 'Position in the queue, from 1.' }),
          length: Type.Integer({ minimum: 1, description: 'Number of queued experiments.' }),
        },
        { ...strict, description: 'Position in the queue; null if the experiment is not queued.' },
      ),
    ),
    waitReason: nullable(
      Type.String({
        description: 'Wait reason of the last scheduling round; null if the experiment is not queued.',
      }),
    ),
    ...estimateFields,
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
    confirmedAt: nullable(
      Type.Integer({ description: 'Time at which the cluster confirmed the launch; null before.' }),
    ),
    lastSequence: Type.Integer({ minimum: 0, description: 'Sequence number of the last recorded event.' }),
    ended: Type.Unsafe<unknown>({
      type: ['object', 'null'],
      additionalProperties: true,
      description: "How the driver ended, from the attempt's last event; null before.",
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
          digest: Type.String({ description: 'SHA-256 of the serialized batch, as hex.' }),
          report: nullable(Type.Unsafe<unknown>({ $ref: 'BatchReport#' }), {
            description: 'Report of the batch; null until the batch is verified.',
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
    explanation: SomeObject('Groups, clusters and weights that determine the advantage.'),
  },
  { ...strict, $id: 'Explanation' },
);

const Values = (description: string) => Type.Array(nullable(Type.Number()), { description });
const Indexes = (description: string) => Type.Array(Count, { description });

/** Rows of a batch, recomputed, in columns. */
export const BatchRows = Type.Object(
  {
    rows: Type.Integer({ description: 'Rows of the whole batch.' }),
    matching: Type.Integer({ description: 'Rows that match the query, on all pages.' }),
    first: Type.Integer({ description: 'Matching rows that this page skips.' }),
    fingerprint: Type.String({ description: 'Estimator with its parameters.' }),
    row: Indexes(
      'Index of each row in the batch, from 0. Entry i of every column belongs to entry i of this one.',
    ),
    groups: Type.Array(Type.String(), { description: 'Names of the groups of these rows.' }),
    group: Indexes('Index into `groups`.'),
    trajectories: Type.Array(Type.String(), { description: 'Names of the trajectories of these rows.' }),
    trajectory: Indexes('Index into `trajectories`.'),
    step: Indexes('Step in the trajectory, from 0.'),
    observations: nullable(
      Type.Array(Type.String(), {
        description:
          'Text of each distinct observation, or its digest if the batch has no texts. Null: the batch has no observations.',
      }),
    ),
    observation: nullable(Indexes('Index into `observations`.')),
    actions: nullable(
      Type.Array(Type.String(), {
        description: 'Text of each distinct action. Null: the batch has no texts of actions.',
      }),
    ),
    action: nullable(Indexes('Index into `actions`.')),
    reported: Values(
      'Advantage as the trainer computed it; null if the batch has none or if it is not finite.',
    ),
    true: Values('Advantage by the stated formula, in float64.'),
    outcome: Type.Array(Type.Enum(['exact', 'rounding', 'wrong', 'unverifiable']), {
      description: 'Outcome of the row.',
    }),
    low: Values('Smallest value that the arithmetic of the trainer can give.'),
    high: Values('Largest value that the arithmetic of the trainer can give.'),
    stepReturn: Values('Return from this step on.'),
    score: Values('Score of the trajectory.'),
    rewards: Type.Array(
      Type.Object(
        {
          name: Type.String({ description: 'Name of the reward function.' }),
          weight: Type.Number({ description: 'Factor of the function in the sum of the rewards.' }),
          value: Values('Reward of the function; null if it did not score the row.'),
        },
        strict,
      ),
      { description: 'One entry per reward function; empty if the batch has only the total reward.' },
    ),
    levels: Type.Array(
      Type.Object(
        {
          level: Type.Integer({ description: 'Shared previous states k; -1 for the whole group.' }),
          advantage: Values('Advantage within the level, before any weight.'),
          share: Type.Array(Type.Number(), {
            description: 'Coefficient of the level in the advantage; 0 if the level was dropped.',
          }),
          dropped: Type.Array(nullable(Type.Enum(['no-such-step', 'singleton', 'equal', 'at-mean'])), {
            description: 'Why the level adds nothing; null if it adds something.',
          }),
        },
        strict,
      ),
      { description: 'One entry per level; empty for an estimator that is a chain of stages.' },
    ),
  },
  { ...strict, $id: 'BatchRows' },
);

/** A cluster with its resources: total, used according to Ray, and allocated by Echelon. It contains no secret. */
export const ClusterView = Type.Object(
  {
    name: Type.String(),
    address: Type.String({ description: 'Address of the ray-worker, as host:port.' }),
    tls: Type.Boolean({ description: 'Whether the connection to the ray-worker is encrypted.' }),
    rayAddress: nullable(
      Type.String({
        description:
          'Address of Ray, as ray://host:port; null if the cluster was registered by the address of its ray-worker.',
      }),
    ),
    rayVersion: nullable(Type.String({ description: 'As last reported by the ray-worker.' })),
    rayWorkerVersion: nullable(Type.String({ description: 'As last reported by the ray-worker.' })),
    sharedRoot: nullable(
      Type.String({ description: 'Directory that all nodes share, as last reported by the ray-worker.' }),
    ),
    draining: Type.Boolean({ description: 'No experiment starts there; running experiments continue' }),
    answering: Type.Boolean({ description: 'Whether the ray-worker has answered a dispatcher recently.' }),
    backfill: Type.Boolean({
      description:
        'Whether smaller experiments may start before a blocked one if they do not delay its estimated start.',
    }),
    labels: Type.Record(Type.String(), Type.String(), {
      description: 'Labels by which specs select the cluster.',
    }),
    codePaths: Type.Array(Type.String(), {
      description:
        'Directories from which specs may load code even if the API key lacks the scope custom-code.',
    }),
    secretProjects: nullable(SeenSecretProjects),
    env: Type.Record(Type.String(), Type.String(), {
      description: 'Environment variables of every driver on the cluster.',
    }),
    paused: nullable(PauseView),
    lastSeenAt: nullable(
      Type.Integer({
        description: 'Time at which the ray-worker last answered a dispatcher, in ms since 1970.',
      }),
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
    unknownAttempts: Type.Array(Type.Object({ experiment: Type.String(), attempt: Count }, strict), {
      description:
        'Attempts that run on this cluster and that the store does not know, as after a restore of an older backup; at most 100. Echelon does not stop them. A key that is bound to a project sees none.',
    }),
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
  projects: Type.Record(Type.String(), PauseView, { description: 'Entries by project name.' }),
};

/** The queue and the clusters. */
export const QueueView = Type.Object(
  {
    counts: Type.Object(
      Object.fromEntries(STATES.map((state) => [state, Count])) as Record<
        (typeof STATES)[number],
        typeof Count
      >,
      { ...strict, description: 'Experiments by state' },
    ),
    accepting: Type.Boolean({ description: 'Whether the store has room for new experiments.' }),
    length: Type.Integer({ minimum: 0, description: 'Number of queued experiments.' }),
    items: Type.Array(
      Type.Object(
        {
          position: Type.Integer({ minimum: 1, description: 'Position in the queue, from 1.' }),
          experiment: Type.String(),
          name: Type.String(),
          project: Type.String(),
          priority: Type.Integer(),
          cluster: nullable(Type.String()),
          gpus: Type.Number({ description: 'GPUs of all its nodes together' }),
          cpus: Type.Number(),
          nodes: Type.Integer({
            minimum: 1,
            description: 'Number of nodes among which its GPUs are divided evenly',
          }),
          submittedAt: Instant,
          waitReason: nullable(
            Type.String({
              description: 'Why the experiment is still queued; null before the first scheduling round',
            }),
          ),
          ...estimateFields,
          ...placeField,
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
    verificationBacklog: Type.Integer({ minimum: 0, description: 'Number of batches without a report.' }),
    clusters: Type.Array(Type.Unsafe<ClusterView>({ $ref: 'Cluster#' })),
  },
  { ...strict, $id: 'Queue' },
);

/** What a scheduling round would find about one experiment. */
const QueueOutcome = Type.Object(
  {
    startsNow: Type.Boolean({ description: 'Whether it would start in the next scheduling round.' }),
    position: nullable(
      Type.Integer({
        minimum: 1,
        description:
          'Position in the queue, from 1; null if it starts now or is too far back to be examined.',
      }),
    ),
    waitReason: nullable(Type.String({ description: 'Why it would not start now.' })),
    ...estimateFields,
    ...placeField,
  },
  strict,
);

/** See {@link WhatIfView}. */
export type QueueOutcome = Static<typeof QueueOutcome>;

/** The effect of a submission or of another priority, which was not made. */
export const WhatIfView = Type.Object(
  {
    before: nullable(QueueOutcome),
    after: QueueOutcome,
    later: Type.Integer({
      minimum: 0,
      description: 'Number of queued experiments that would start later, of all projects.',
    }),
    earlier: Type.Integer({
      minimum: 0,
      description: 'Number of queued experiments that would start earlier, of all projects.',
    }),
    shifts: Type.Array(
      Type.Object(
        {
          experiment: Type.String(),
          name: Type.String(),
          project: Type.String(),
          from: StartEstimate,
          to: nullable(StartEstimate),
        },
        strict,
      ),
      {
        description:
          'Queued experiments that would start at another time, the largest delays first; at most 100. `to` is null if the start would not be known any more.',
      },
    ),
    examined: Type.Integer({ minimum: 0, description: 'Number of queued experiments that were examined.' }),
    isWhole: Type.Boolean({ description: 'Whether these are all queued experiments.' }),
  },
  { ...strict, $id: 'WhatIf' },
);
/** See {@link WhatIfView}. */
export type WhatIfView = Static<typeof WhatIfView>;
