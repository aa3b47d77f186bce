import { type Static, type TSchema, Type } from 'typebox';
import { FEED_TYPES } from '../core/events.ts';
import type { EventSchema } from './events.ts';
import { strict } from './strict.ts';

const Count = Type.Integer({ minimum: 0 });
const Instant = Type.Integer({ description: 'Milliseconds since 1970' });

function nullable<T extends TSchema>(schema: T) {
  return Type.Union([schema, Type.Null()]);
}

const After = Type.String({
  description: 'Stream id of the last entry that was read; pass it on as `after`',
});

/** An event as `data` of a server-sent event; its `id` and `event` lines repeat the id and the type. */
export const EventMessage = Type.Object(
  {
    id: Type.String({ description: 'Send it back as Last-Event-ID to go on behind this event' }),
    at: Instant,
    event: Type.Unsafe<EventSchema>({ $ref: 'ExperimentEvent#' }),
  },
  { ...strict, $id: 'EventMessage' },
);

/** An event of a feed as `data` of a server-sent event; its `id` and `event` lines repeat the id and the type. */
export const FeedMessage = Type.Object(
  {
    id: Type.String({ description: 'Send it back as Last-Event-ID to go on behind this event' }),
    at: Instant,
    project: Type.String(),
    experiment: nullable(Type.String({ description: 'Null: of a sweep' })),
    name: Type.String({ description: 'Of the experiment or the sweep' }),
    sweep: nullable(Type.String({ description: 'The sweep, or that of the experiment' })),
    event: Type.Object(
      { type: Type.Enum([...FEED_TYPES], { type: 'string' }) },
      {
        additionalProperties: true,
        description:
          'As in the stream of the experiment; `sweep`: its state, and its children counted by theirs',
      },
    ),
  },
  { ...strict, $id: 'FeedMessage' },
);

/** `data` of the first event of a feed, `start`. */
export const FeedStart = Type.Object(
  { id: Type.String({ description: 'The place in the feed from which on it tells' }) },
  { ...strict, $id: 'FeedStart' },
);

const MetricNumber = Type.Union([
  Type.Number(),
  Type.Enum(['NaN', 'Infinity', '-Infinity'], { type: 'string' }),
]);

/** Values of metrics, by name, in the order in which they were recorded. */
export const MetricPoints = Type.Object(
  {
    series: Type.Array(
      Type.Object(
        {
          name: Type.String(),
          points: Type.Array(
            Type.Object(
              {
                attempt: Count,
                step: Count,
                value: MetricNumber,
              },
              strict,
            ),
          ),
        },
        strict,
      ),
    ),
    after: nullable(After),
    more: Type.Boolean({ description: 'More is recorded behind `after` already' }),
  },
  { ...strict, $id: 'MetricPoints' },
);
/** See {@link MetricPoints}. */
export type MetricPoints = Static<typeof MetricPoints>;

const ChartPoint = Type.Object(
  {
    attempt: Count,
    from: Type.Integer({ minimum: 0, description: 'First step that it stands for' }),
    to: Type.Integer({ minimum: 0, description: 'Last step that it stands for' }),
    count: Type.Integer({ minimum: 1, description: 'Recorded values that it stands for' }),
    first: MetricNumber,
    last: MetricNumber,
    min: nullable(Type.Number({ description: 'Of its finite values, as largest and mean' })),
    max: nullable(Type.Number()),
    mean: nullable(Type.Number()),
    nan: Type.Integer({ minimum: 0, description: 'How many of its values are NaN' }),
    infinite: Type.Integer({ minimum: 0, description: 'How many of its values are infinite' }),
  },
  strict,
);
const chart = {
  series: Type.Array(Type.Object({ name: Type.String(), points: Type.Array(ChartPoint) }, strict)),
  resolution: Type.Integer({ minimum: 1, description: 'Points of a series at most, as answered' }),
};

/** Metrics over the steps. */
export const MetricChart = Type.Object(chart, { ...strict, $id: 'MetricChart' });
/** See {@link MetricChart}. */
export type MetricChart = Static<typeof MetricChart>;

/** The charts of several experiments. */
export const MetricCharts = Type.Object(
  { items: Type.Array(Type.Object({ experiment: Type.String(), ...chart }, strict)) },
  { ...strict, $id: 'MetricCharts' },
);

/** The metrics of an experiment, by name. */
export const MetricNames = Type.Object(
  {
    items: Type.Array(Type.Object({ name: Type.String(), last: MetricNumber }, strict)),
  },
  { ...strict, $id: 'MetricNames' },
);
/** See {@link MetricNames}. */
export type MetricNames = Static<typeof MetricNames>;

/** Lines of the driver's output. */
export const LogPage = Type.Object(
  {
    lines: Type.Array(
      Type.Object(
        {
          line: nullable(
            Type.Integer({ minimum: 1, description: 'Its number, over all attempts; null: not known' }),
          ),
          id: Type.String({ description: 'Stream id of the event that carried it' }),
          at: Instant,
          attempt: Count,
          source: Type.Enum(['stdout', 'stderr', 'gap'], {
            type: 'string',
            description: 'gap: lines were dropped here, the text says how many',
          }),
          text: Type.String(),
        },
        strict,
      ),
    ),
    after: nullable(After),
    more: Type.Boolean({ description: 'More is recorded behind `after` already' }),
  },
  { ...strict, $id: 'LogPage' },
);
/** See {@link LogPage}. */
export type LogPage = Static<typeof LogPage>;
