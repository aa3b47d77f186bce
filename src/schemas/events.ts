import { type Static, Type } from 'typebox';
import { END_CAUSES } from '../core/events.ts';
import { STATES } from '../core/states.ts';
import { Count, CountOf, nullable, oneOf, outcomes, Text, tagged } from './answer-parts.ts';

/** Events may gain fields: readers ignore unknown ones. */
const open = { additionalProperties: true } as const;
const StateName = Type.Enum([...STATES], { type: 'string' });
const MetricValue = Type.Union([Type.Number(), oneOf(['NaN', 'Infinity', '-Infinity'])]);

const started = Type.Object(
  {
    type: Type.Literal('started'),
    pid: Type.Integer(),
    nodeId: Type.String(),
    command: Type.Array(Type.String()),
  },
  { ...open, $id: 'StartedEvent', description: 'The driver of the attempt was started.' },
);

const stage = Type.Object(
  { type: Type.Literal('stage'), name: Type.String(), step: Count, steps: Count },
  { ...open, $id: 'StageEvent', description: 'Current stage of the driver. `steps` is 0 if unknown.' },
);

const log = Type.Object(
  {
    type: Type.Literal('log'),
    source: oneOf(['stdout', 'stderr']),
    lines: Type.Array(Type.String()),
    cutBytes: CountOf('Number of bytes cut from lines that were too long.'),
    progress: Type.Optional(
      Text(
        'Present state of a line that has not ended, such as a progress bar. It is not a line: the next log event of the same source replaces it.',
      ),
    ),
  },
  { ...open, $id: 'LogEvent', description: "Lines of the driver's output." },
);

const metrics = Type.Object(
  {
    type: Type.Literal('metrics'),
    step: Count,
    values: Type.Record(Type.String(), MetricValue),
    omitted: Type.Optional(CountOf('Number of values that were omitted because there were too many.')),
  },
  {
    ...open,
    $id: 'MetricsEvent',
    description: 'Metrics of a step as the trainer logged them, at full precision.',
  },
);

const batch = Type.Object(
  {
    type: Type.Literal('batch'),
    step: Count,
    batch: Type.Integer({ minimum: 1, description: 'Number of the batch within the attempt, from 1.' }),
    index: CountOf('Index of this part, from 0.'),
    count: Type.Integer({ minimum: 1, description: 'Number of parts of the batch.' }),
    rows: Count,
    digest: Text('SHA-256 of the whole batch, as hex.'),
    bytes: CountOf('Size of this part in bytes.'),
  },
  { ...open, $id: 'BatchEvent', description: 'A part of an advantage batch was recorded' },
);

const checkpoint = Type.Object(
  { type: Type.Literal('checkpoint'), step: Count, path: Type.String() },
  { ...open, $id: 'CheckpointEvent', description: 'A checkpoint was saved' },
);

const checkpointStored = Type.Object(
  {
    type: Type.Literal('stored'),
    step: Count,
    manifest: Type.String({
      pattern: '^[0-9a-f]{64}$',
      description:
        'SHA-256 of the manifest, as hex. A later attempt downloads a checkpoint only if its manifest has this digest.',
    }),
  },
  {
    ...open,
    $id: 'CheckpointStoredEvent',
    description: 'A checkpoint is complete in the object store of the experiment',
  },
);

/** The result of one game of an evaluation. */
export const PlayedGame = Type.Object(
  {
    game: Text('Name of the game, the same in every evaluation of its panel.'),
    replicate: Count,
    success: Type.Number({ minimum: 0, maximum: 1, description: '1 if the game was solved, 0 if not.' }),
    score: Type.Number(),
    steps: CountOf('Number of steps that the agent took.'),
    invalidSteps: CountOf('Number of steps whose action was invalid.'),
  },
  open,
);

/** The games of an evaluation and what was played; the fields of an event `evaluation`. */
export const evaluationFields = {
  step: Count,
  panel: Text('Name of the panel of games.'),
  digest: Type.String({
    pattern: '^([0-9a-f]{64})?$',
    description:
      'SHA-256 over the resolved games of the panel, as hex. Empty: the games were drawn, so the panel is a sampled one.',
  }),
  decoding: Type.Record(Type.String(), Type.String(), {
    description: 'Settings of the answers, such as temperature and seed.',
  }),
  games: Type.Array(PlayedGame),
};

const evaluation = Type.Object(
  { type: Type.Literal('evaluation'), ...evaluationFields },
  {
    ...open,
    $id: 'EvaluationEvent',
    description:
      'Games that a checkpoint played. An evaluation of more than 2,000 games is several events in a row.',
  },
);

const gap = Type.Object(
  {
    type: Type.Literal('gap'),
    kind: oneOf(['logs', 'batch', 'reports']),
    step: Count,
    count: Count,
    bytes: Count,
    rows: Count,
    reason: Type.String(),
  },
  { ...open, $id: 'GapEvent', description: 'Data was dropped at its source.' },
);

const ended = Type.Object(
  {
    type: Type.Literal('ended'),
    cause: Type.Enum([...END_CAUSES], { type: 'string' }),
    exitCode: Type.Integer(),
    signal: Type.Integer({ description: 'Signal that ended the driver; 0 if none did.' }),
    message: Type.String(),
    lastLines: Type.Array(Type.String()),
  },
  { ...open, $id: 'EndedEvent', description: 'The driver ended. This is the last event of an attempt.' },
);

const state = Type.Object(
  {
    type: Type.Literal('state'),
    from: nullable(StateName),
    to: StateName,
    attempt: Count,
    reason: Type.String(),
  },
  { ...open, $id: 'StateEvent', description: 'The state of the experiment changed.' },
);

const verification = Type.Object(
  {
    type: Type.Literal('verification'),
    attempt: Count,
    batch: Type.Integer({ minimum: 1 }),
    step: Count,
    rows: Count,
    ...outcomes,
    errors: Type.Array(Type.String(), { description: 'Codes of error findings' }),
    ok: Type.Boolean(),
    replaces: Type.Optional(
      Type.Literal(true, {
        description:
          'This report replaces an earlier report `not verifiable`, whose rows are already counted.',
      }),
    ),
  },
  { ...open, $id: 'VerificationEvent', description: 'A batch was verified. The counts are rows.' },
);

const rule = Type.Object(
  {
    type: Type.Literal('rule'),
    rule: Type.String(),
    do: oneOf(['mark', 'stop', 'stop-at-checkpoint']),
    attempt: Count,
    step: Count,
    at: Type.Integer({ description: 'Time at which the triggering values were recorded, in ms since 1970.' }),
    batch: nullable(Type.Integer(), {
      description: 'Number of the batch in question; null if none.',
    }),
    reason: Type.String(),
    evidence: Type.Object(
      {
        condition: Type.String(),
        values: Type.Array(
          Type.Object(
            {
              name: Type.String(),
              step: Count,
              value: Type.Union([Type.Number(), Type.String()]),
              batch: nullable(Type.Integer()),
            },
            open,
          ),
        ),
      },
      open,
    ),
  },
  { ...open, $id: 'RuleEvent', description: 'A rule fired' },
);

const preemption = Type.Object(
  {
    type: Type.Literal('preemption'),
    attempt: Count,
    until: nullable(
      Type.Integer({ description: 'Time of the stop if no checkpoint comes before, in ms since 1970.' }),
      { description: 'null: it is not preempted any more.' },
    ),
    reason: Type.String(),
  },
  {
    ...open,
    $id: 'PreemptionEvent',
    description:
      'The experiment makes room for an urgent one: it stops at its next checkpoint and continues from it later.',
  },
);

/** Every event that an attempt reports, by its `type`; the same as `AttemptEvent` of `core/events.ts`. */
export const AttemptEventSchema = Type.Union([
  started,
  stage,
  log,
  metrics,
  batch,
  checkpoint,
  checkpointStored,
  evaluation,
  gap,
  ended,
]);

/** Every event of an experiment's stream, by its `type`; the same as `ExperimentEvent` of `core/events.ts`. */
export const EventSchema = tagged('ExperimentEvent', [
  started,
  stage,
  log,
  metrics,
  batch,
  checkpoint,
  checkpointStored,
  gap,
  ended,
  evaluation,
  state,
  verification,
  rule,
  preemption,
]);
export type EventSchema = Static<typeof EventSchema>;
