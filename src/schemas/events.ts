import { type Static, Type } from 'typebox';
import { END_CAUSES } from '../core/events.ts';
import { STATES } from '../core/states.ts';

/** Events may gain fields: readers pass over those that they do not know. */
const open = { additionalProperties: true } as const;
const Count = Type.Integer({ minimum: 0 });
const StateName = Type.Enum([...STATES], { type: 'string' });
const MetricValue = Type.Union([
  Type.Number(),
  Type.Literal('NaN'),
  Type.Literal('Infinity'),
  Type.Literal('-Infinity'),
]);

const started = Type.Object(
  {
    type: Type.Literal('started'),
    pid: Type.Integer(),
    nodeId: Type.String(),
    command: Type.Array(Type.String()),
  },
  { ...open, description: "The attempt's driver was started" },
);

const stage = Type.Object(
  { type: Type.Literal('stage'), name: Type.String(), step: Count, steps: Count },
  { ...open, description: 'What the driver does now; `steps` 0: not known' },
);

const log = Type.Object(
  {
    type: Type.Literal('log'),
    source: Type.Union([Type.Literal('stdout'), Type.Literal('stderr')]),
    lines: Type.Array(Type.String()),
    cutBytes: Type.Integer({ minimum: 0, description: 'Bytes of lines that were too long' }),
  },
  { ...open, description: "Lines of the driver's output" },
);

const metrics = Type.Object(
  {
    type: Type.Literal('metrics'),
    step: Count,
    values: Type.Record(Type.String(), MetricValue),
    omitted: Type.Optional(
      Type.Integer({ minimum: 0, description: 'Values that were left out because there were too many' }),
    ),
  },
  { ...open, description: 'What the trainer logged at a step, at full precision' },
);

const batch = Type.Object(
  {
    type: Type.Literal('batch'),
    step: Count,
    batch: Type.Integer({ minimum: 1, description: 'Number of the batch in the attempt' }),
    index: Type.Integer({ minimum: 0, description: 'Of this part, from 0' }),
    count: Type.Integer({ minimum: 1, description: 'Parts' }),
    rows: Count,
    digest: Type.String({ description: 'SHA-256 of the whole batch, hex' }),
    bytes: Type.Integer({ minimum: 0, description: 'Of this part' }),
  },
  { ...open, description: 'A part of an advantage batch was recorded' },
);

const checkpoint = Type.Object(
  { type: Type.Literal('checkpoint'), step: Count, path: Type.String() },
  { ...open, description: 'A checkpoint was saved' },
);

const gap = Type.Object(
  {
    type: Type.Literal('gap'),
    kind: Type.Union([Type.Literal('logs'), Type.Literal('batch'), Type.Literal('reports')]),
    step: Count,
    count: Count,
    bytes: Count,
    rows: Count,
    reason: Type.String(),
  },
  { ...open, description: 'Something was dropped at its source' },
);

const ended = Type.Object(
  {
    type: Type.Literal('ended'),
    cause: Type.Enum([...END_CAUSES], { type: 'string' }),
    exitCode: Type.Integer(),
    signal: Type.Integer({ description: '0: none' }),
    message: Type.String(),
    lastLines: Type.Array(Type.String()),
  },
  { ...open, description: 'The driver ended; the last event of an attempt' },
);

const state = Type.Object(
  {
    type: Type.Literal('state'),
    from: Type.Union([StateName, Type.Null()]),
    to: StateName,
    attempt: Count,
    reason: Type.String(),
  },
  { ...open, description: 'The experiment came into another state' },
);

const verification = Type.Object(
  {
    type: Type.Literal('verification'),
    attempt: Count,
    batch: Type.Integer({ minimum: 1 }),
    step: Count,
    rows: Count,
    exact: Count,
    rounding: Count,
    wrong: Count,
    unverifiable: Count,
    errors: Type.Array(Type.String(), { description: 'Codes of error findings' }),
    ok: Type.Boolean(),
    replaces: Type.Optional(
      Type.Literal(true, {
        description:
          'This report holds instead of an earlier one, which said that the batch is not verifiable. Its rows were counted with the earlier one.',
      }),
    ),
  },
  { ...open, description: 'A batch has its report; counts are rows' },
);

const rule = Type.Object(
  {
    type: Type.Literal('rule'),
    rule: Type.String(),
    do: Type.Union([Type.Literal('mark'), Type.Literal('stop'), Type.Literal('stop-at-checkpoint')]),
    attempt: Count,
    step: Count,
    at: Type.Integer({ description: 'When what it looked at was recorded, ms since 1970' }),
    batch: Type.Union([Type.Integer(), Type.Null()], { description: 'The batch that it is about' }),
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
              batch: Type.Union([Type.Integer(), Type.Null()]),
            },
            open,
          ),
        ),
      },
      open,
    ),
  },
  { ...open, description: 'A rule fired' },
);

/** Every event of an experiment's stream, by its `type`; the same as `ExperimentEvent` of `core/events.ts`. */
export const EventSchema = Type.Union(
  [started, stage, log, metrics, batch, checkpoint, gap, ended, state, verification, rule],
  { $id: 'ExperimentEvent' },
);
/** See {@link EventSchema}. */
export type EventSchema = Static<typeof EventSchema>;
