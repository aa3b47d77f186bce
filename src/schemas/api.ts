import { type Static, Type } from 'typebox';
import { STATES } from '../core/states.ts';
import {
  Count,
  CountOf,
  Cursor,
  ExpectedPlace,
  Instant,
  nullable,
  oneOf,
  Pause,
  PriorityClassOf,
  StartEstimate,
  Text,
} from './answer-parts.ts';
import { SeenCheckpointStores } from './checkpoint-stores.ts';
import { NodeTypes, RuntimeEnvFields } from './clusters.ts';
import { Experiment } from './experiment.ts';
import { DescribedObject, NamedObject, StrictObject } from './objects.ts';
import { SeenSecretProjects } from './secrets.ts';
import { SlurmView } from './slurm.ts';
import { SomeObject } from './spec-parts.ts';

/** A problem document (RFC 9457): every answer of status 400 and above. */
export const Problem = NamedObject('Problem', {
  type: Text('URL of the documentation of the error.'),
  title: Type.String(),
  status: Type.Integer(),
  detail: Text('What went wrong and the remedy, in one or two sentences.'),
  code: Text('Stable code of the error.'),
  retry: Type.Boolean({ description: 'Whether the same request may succeed later.' }),
  problems: Type.Array(
    StrictObject({
      field: Text('JSON pointer into the body, or the name of a parameter.'),
      message: Type.String(),
    }),
  ),
});
export type Problem = Static<typeof Problem>;

/** The answer to an accepted experiment; equal for every repetition of the request with its Idempotency-Key. */
export const Accepted = NamedObject('Accepted', {
  id: Type.String(),
  self: Text('Path of the experiment.'),
  events: Text("Path of the experiment's event stream."),
  warnings: Type.Array(Type.String(), {
    description: 'Why no node is large enough for the experiment now: it stays queued until one joins.',
  }),
});
export type Accepted = Static<typeof Accepted>;

/** Of one that waits: its estimate, or why there is none. */
const estimateFields = {
  estimate: nullable(StartEstimate),
  noEstimate: nullable(Text('Why there is no estimate; null if there is one.')),
};

const placeField = { place: nullable(ExpectedPlace) };

/** A queue after it was paused, closed or resumed. */
export const QueuePause = NamedObject('QueuePause', {
  queue: Text("A project's name; _all for all projects"),
  paused: nullable(Pause),
  closed: nullable(Pause),
});

/** An experiment with its queue position. */
export const ExperimentDetail = NamedObject('ExperimentDetail', {
  ...Experiment.properties,
  position: nullable(
    DescribedObject('Position in the queue; null if the experiment is not queued.', {
      rank: Type.Integer({ minimum: 1, description: 'Position in the queue, from 1.' }),
      length: Type.Integer({ minimum: 1, description: 'Number of queued experiments.' }),
    }),
  ),
  waitReason: nullable(
    Text('Wait reason of the last scheduling round; null if the experiment is not queued.'),
  ),
  ...estimateFields,
});
export type ExperimentDetail = Static<typeof ExperimentDetail>;

/** A page of experiments. */
export const ExperimentPage = NamedObject('ExperimentPage', {
  items: Type.Array(Type.Unsafe<Experiment>({ $ref: 'Experiment#' })),
  next: Cursor,
  sorted: nullable(
    CountOf('Number of experiments that were sorted by a value; null if the order needs none.'),
  ),
});

/** One attempt of an experiment. */
export const AttemptView = NamedObject('Attempt', {
  attempt: Type.Integer({ minimum: 1 }),
  cluster: Type.String(),
  claimedAt: Instant,
  confirmedAt: nullable(
    Type.Integer({ description: 'Time at which the cluster confirmed the launch; null before.' }),
  ),
  lastSequence: CountOf('Sequence number of the last recorded event.'),
  ended: Type.Unsafe<unknown>({
    type: ['object', 'null'],
    additionalProperties: true,
    description: "How the driver ended, from the attempt's last event; null before.",
  }),
});

/** All attempts of an experiment, from the first. */
export const AttemptList = NamedObject('AttemptList', {
  items: Type.Array(Type.Unsafe<Static<typeof AttemptView>>({ $ref: 'Attempt#' })),
});
export type AttemptList = Static<typeof AttemptList>;

/** The verification of an experiment: its counters, and a page of its batches with their reports. */
export const Verification = NamedObject('Verification', {
  counts: Experiment.properties.verification,
  items: Type.Array(
    StrictObject({
      attempt: Count,
      batch: Count,
      step: Count,
      rows: Count,
      digest: Text('SHA-256 of the serialized batch, as hex.'),
      report: nullable(Type.Unsafe<unknown>({ $ref: 'BatchReport#' }), {
        description: 'Report of the batch; null until the batch is verified.',
      }),
    }),
  ),
  next: Cursor,
});

/** How one row's advantage comes about, recomputed. */
export const Explanation = NamedObject('Explanation', {
  attempt: Count,
  batch: Count,
  step: Count,
  row: Count,
  explanation: SomeObject(
    'Groups, clusters and weights that determine the advantage; of an optimizer step, the chain of a token.',
  ),
});

const Values = (description: string) => Type.Array(nullable(Type.Number()), { description });
const Indexes = (description: string) => Type.Array(Count, { description });

/** The tokens of a row of an optimizer step, recomputed, in columns. */
export const StepTokens = NamedObject('StepTokens', {
  rows: Type.Integer({ description: 'Rows of the whole step.' }),
  row: Count,
  group: nullable(Type.String()),
  trajectory: nullable(Type.String()),
  microBatch: Type.Integer({ description: 'Index into `microBatches`.' }),
  tokens: Type.Integer({ description: 'Tokens of the row. The columns hold at most 10,000.' }),
  id: nullable(Indexes('Token ids.')),
  text: nullable(Type.Array(nullable(Type.String()), { description: 'Text of each token.' })),
  trained: Type.Array(Type.Boolean(), { description: 'Whether the token contributes to the loss.' }),
  outcome: Type.Array(Type.String(), { description: 'Worst outcome of the stages of the token.' }),
  breaks: Type.Array(nullable(Type.String()), { description: 'First stage that breaks.' }),
  logProb: Values('Log-prob that the loss consumed.'),
  ratio: Values('Importance ratio, recomputed.'),
  expected: Values('Gradient coefficient, recomputed.'),
  reported: Values('Gradient coefficient of the trainer.'),
  microBatches: Type.Array(
    StrictObject({
      rank: Count,
      index: Count,
      pass: Count,
      rows: Count,
      tokens: CountOf('Tokens of the masks of these rows.'),
    }),
    { description: 'Layout of the step: at most 1,000 micro-batches.' },
  ),
});

/** Rows of a batch, recomputed, in columns. */
export const BatchRows = NamedObject('BatchRows', {
  rows: Type.Integer({ description: 'Rows of the whole batch.' }),
  matching: Type.Integer({ description: 'Rows that match the query, on all pages.' }),
  first: Type.Integer({ description: 'Matching rows that this page skips.' }),
  fingerprint: Text('Estimator with its parameters.'),
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
    StrictObject({
      name: Text('Name of the reward function.'),
      weight: Type.Number({ description: 'Factor of the function in the sum of the rewards.' }),
      value: Values('Reward of the function; null if it did not score the row.'),
    }),
    { description: 'One entry per reward function; empty if the batch has only the total reward.' },
  ),
  levels: Type.Array(
    StrictObject({
      level: Type.Integer({ description: 'Shared previous states k; -1 for the whole group.' }),
      advantage: Values('Advantage within the level, before any weight.'),
      share: Type.Array(Type.Number(), {
        description: 'Coefficient of the level in the advantage; 0 if the level was dropped.',
      }),
      dropped: Type.Array(nullable(Type.Enum(['no-such-step', 'singleton', 'equal', 'at-mean'])), {
        description: 'Why the level adds nothing; null if it adds something.',
      }),
    }),
    { description: 'One entry per level; empty for an estimator that is a chain of stages.' },
  ),
});

/** A cluster with its resources: total, used according to Ray, and allocated by Echelon. It contains no secret. */
export const ClusterView = NamedObject('Cluster', {
  name: Type.String(),
  address: Text('Address of the ray-worker, as host:port.'),
  tls: Type.Boolean({ description: 'Whether the connection to the ray-worker is encrypted.' }),
  rayAddress: nullable(
    Text(
      'Address of Ray, as ray://host:port; null if the cluster was registered by the address of its ray-worker.',
    ),
  ),
  rayVersion: nullable(Text('As last reported by the ray-worker.')),
  rayWorkerVersion: nullable(Text('As last reported by the ray-worker.')),
  sharedRoot: nullable(Text('Directory that all nodes share, as last reported by the ray-worker.')),
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
  runtimeEnv: RuntimeEnvFields,
  checkpointStores: SeenCheckpointStores,
  secretProjects: nullable(SeenSecretProjects),
  env: Type.Record(Type.String(), Type.String(), {
    description: 'Environment variables of every driver on the cluster.',
  }),
  storage: nullable(Text('Name of the storage of the shared root; null: none was stated.')),
  nodeTypes: NodeTypes,
  autoscaler: nullable(
    DescribedObject('New nodes that the autoscaler is asked for; null: none.', {
      nodes: Type.Array(
        StrictObject({ gpus: Type.Number(), cpus: Type.Number(), count: CountOf('Number of such nodes.') }),
      ),
      since: Instant,
    }),
  ),
  slurm: nullable(SlurmView),
  paused: nullable(Pause),
  lastSeenAt: nullable(
    Type.Integer({
      description: 'Time at which the ray-worker last answered a dispatcher, in ms since 1970.',
    }),
  ),
  nodes: Type.Array(
    StrictObject({
      id: Type.String(),
      cpusTotal: Type.Number(),
      gpusTotal: Type.Number(),
      cpusUsed: Type.Number({ description: 'Used according to Ray' }),
      gpusUsed: Type.Number({ description: 'Used according to Ray' }),
      cpusAllocated: Type.Number({ description: 'Allocated by Echelon' }),
      gpusAllocated: Type.Number({ description: 'Allocated by Echelon' }),
      cpusFree: Type.Number({ description: 'Neither allocated nor in use by another Ray job.' }),
      gpusFree: Type.Number({ description: 'Neither allocated nor in use by another Ray job.' }),
      state: oneOf(['ready', 'draining', 'cordoned'], {
        description: 'Nothing new starts on a draining or cordoned node; experiments leave a draining one.',
      }),
      stateReason: Type.String({ description: 'Why it is draining or cordoned; empty for a ready node.' }),
      labels: Type.Record(Type.String(), Type.String(), {
        description: 'Labels of the node in Ray; `ray.io/accelerator-type` is the type of its GPUs.',
      }),
      health: nullable(
        DescribedObject("Figures of Ray's agent and DCGM's exporter on the node; null: none are known.", {
          cpuPercent: nullable(Type.Number()),
          memoryPercent: nullable(Type.Number()),
          gpus: Type.Array(
            StrictObject({
              gpu: Text('Index of the GPU on the node.'),
              model: Type.String(),
              utilizationPercent: nullable(Type.Number()),
              memoryPercent: nullable(Type.Number()),
              temperatureCelsius: nullable(Type.Number()),
              xid: nullable(Type.Integer({ description: 'Code of the last Xid; 0: none.' })),
              eccErrors: nullable(
                Type.Integer({ description: 'Uncorrectable ECC errors since the driver was loaded.' }),
              ),
              faults: Type.Array(Type.String(), {
                description: 'Faults of the hardware after which the GPU must be reset or replaced.',
              }),
            }),
          ),
        }),
      ),
    }),
  ),
  experiments: Type.Array(Type.String(), { description: 'Experiments with an allocation on this cluster' }),
  unknownAttempts: Type.Array(StrictObject({ experiment: Type.String(), attempt: Count }), {
    description:
      'Attempts that run on this cluster and that the store does not know, as after a restore of an older backup; at most 100. Echelon does not stop them. A key that is bound to a project sees none.',
  }),
});
export type ClusterView = Static<typeof ClusterView>;

/** All clusters, by name. */
export const ClusterList = NamedObject('ClusterList', {
  items: Type.Array(Type.Unsafe<ClusterView>({ $ref: 'Cluster#' })),
});

const byQueue = {
  all: nullable(Pause),
  projects: Type.Record(Type.String(), Pause, { description: 'Entries by project name.' }),
};

/** The queue and the clusters. */
export const QueueView = NamedObject('Queue', {
  counts: DescribedObject(
    'Experiments by state',
    Object.fromEntries(STATES.map((state) => [state, Count])) as Record<
      (typeof STATES)[number],
      typeof Count
    >,
  ),
  accepting: Type.Boolean({ description: 'Whether the store has room for new experiments.' }),
  length: CountOf('Number of queued experiments.'),
  items: Type.Array(
    StrictObject({
      position: Type.Integer({ minimum: 1, description: 'Position in the queue, from 1.' }),
      experiment: Type.String(),
      name: Type.String(),
      project: Type.String(),
      priority: Type.Integer(),
      priorityClass: PriorityClassOf,
      cluster: nullable(Type.String()),
      gpus: Type.Number({ description: 'GPUs of all its nodes together' }),
      cpus: Type.Number(),
      nodes: Type.Integer({
        minimum: 1,
        description: 'Number of nodes among which its GPUs are divided evenly',
      }),
      submittedAt: Instant,
      waitReason: nullable(
        Text('Why the experiment is still queued; null before the first scheduling round'),
      ),
      ...estimateFields,
      ...placeField,
    }),
    { description: 'A page of queued experiments, in queue order' },
  ),
  next: Cursor,
  paused: DescribedObject(
    'Paused queues, from which no experiment starts; null or absent if not paused',
    byQueue,
  ),
  closed: DescribedObject('Closed queues, which accept no new experiments; null or absent if open', byQueue),
  dispatchers: DescribedObject('The dispatchers, which start, follow and record experiments', {
    present: Type.Boolean({
      description: 'Whether a dispatcher is connected. If not, nothing starts and the figures do not change.',
    }),
    lastSeenAt: nullable(
      Type.Integer({
        description: 'When a dispatcher last had an answer of a cluster, in ms since 1970; null: never.',
      }),
    ),
  }),
  verificationBacklog: CountOf('Number of batches without a report.'),
  clusters: Type.Array(Type.Unsafe<ClusterView>({ $ref: 'Cluster#' })),
});

/** What a scheduling round would find about one experiment. */
const QueueOutcome = StrictObject({
  startsNow: Type.Boolean({ description: 'Whether it would start in the next scheduling round.' }),
  position: nullable(
    Type.Integer({
      minimum: 1,
      description: 'Position in the queue, from 1; null if it starts now or is too far back to be examined.',
    }),
  ),
  waitReason: nullable(Text('Why it would not start now.')),
  ...estimateFields,
  ...placeField,
});

/** See {@link WhatIfView}. */
export type QueueOutcome = Static<typeof QueueOutcome>;

/** The effect of a submission or of another priority, which was not made. */
export const WhatIfView = NamedObject('WhatIf', {
  before: nullable(QueueOutcome),
  after: QueueOutcome,
  later: CountOf('Number of queued experiments that would start later, of all projects.'),
  earlier: CountOf('Number of queued experiments that would start earlier, of all projects.'),
  shifts: Type.Array(
    StrictObject({
      experiment: Type.String(),
      name: Type.String(),
      project: Type.String(),
      from: StartEstimate,
      to: nullable(StartEstimate),
    }),
    {
      description:
        'Queued experiments that would start at another time, the largest delays first; at most 100. `to` is null if the start would not be known any more.',
    },
  ),
  examined: CountOf('Number of queued experiments that were examined.'),
  isWhole: Type.Boolean({ description: 'Whether these are all queued experiments.' }),
});
export type WhatIfView = Static<typeof WhatIfView>;
