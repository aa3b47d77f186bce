import { type Static, Type } from 'typebox';
import { FEED_TYPES } from '../core/events.ts';
import { Count, Instant, nullable } from './answer-parts.ts';
import type { EventSchema } from './events.ts';
import { strict } from './strict.ts';

const After = Type.String({
  description: 'Stream id of the last entry of this page. Send it as `after` to continue.',
});

/** An event as `data` of a server-sent event; its `id` and `event` lines repeat the id and the type. */
export const EventMessage = Type.Object(
  {
    id: Type.String({ description: 'Stream id. Send it as Last-Event-ID to continue after this event.' }),
    at: Instant,
    event: Type.Unsafe<EventSchema>({ $ref: 'ExperimentEvent#' }),
  },
  { ...strict, $id: 'EventMessage' },
);

/** An event of a feed as `data` of a server-sent event; its `id` and `event` lines repeat the id and the type. */
export const FeedMessage = Type.Object(
  {
    id: Type.String({ description: 'Stream id. Send it as Last-Event-ID to continue after this event.' }),
    at: Instant,
    project: Type.String(),
    experiment: nullable(Type.String({ description: 'Id of the experiment; null for an event of a sweep.' })),
    name: Type.String({ description: 'Name of the experiment or the sweep.' }),
    sweep: nullable(Type.String({ description: 'Id of the sweep; null for an experiment without one.' })),
    event: Type.Object(
      { type: Type.Enum([...FEED_TYPES], { type: 'string' }) },
      {
        additionalProperties: true,
        description:
          "The event as in the experiment's stream. An event `sweep` has the state of the sweep and the number of children in each state.",
      },
    ),
  },
  { ...strict, $id: 'FeedMessage' },
);

/** `data` of the first event of a feed, `start`. */
export const FeedStart = Type.Object(
  { id: Type.String({ description: 'Position in the feed after which this stream starts.' }) },
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
    more: Type.Boolean({ description: 'Whether later entries are already recorded.' }),
  },
  { ...strict, $id: 'MetricPoints' },
);
/** See {@link MetricPoints}. */
export type MetricPoints = Static<typeof MetricPoints>;

const ChartPoint = Type.Object(
  {
    attempt: Count,
    from: Type.Integer({ minimum: 0, description: 'First step of the point.' }),
    to: Type.Integer({ minimum: 0, description: 'Last step of the point.' }),
    count: Type.Integer({ minimum: 1, description: 'Number of recorded values in the point.' }),
    first: MetricNumber,
    last: MetricNumber,
    min: nullable(
      Type.Number({
        description: 'Smallest finite value; null if there is none. `max` and `mean` likewise.',
      }),
    ),
    max: nullable(Type.Number()),
    mean: nullable(Type.Number()),
    nan: Type.Integer({ minimum: 0, description: 'Number of NaN values in the point.' }),
    infinite: Type.Integer({ minimum: 0, description: 'Number of infinite values in the point.' }),
  },
  strict,
);
const chart = {
  series: Type.Array(Type.Object({ name: Type.String(), points: Type.Array(ChartPoint) }, strict)),
  resolution: Type.Integer({
    minimum: 1,
    description: 'Maximum number of points per series in this response.',
  }),
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
            Type.Integer({ minimum: 1, description: 'Line number over all attempts; null if unknown.' }),
          ),
          id: Type.String({ description: 'Stream id of the event that holds the line.' }),
          at: Instant,
          attempt: Count,
          source: Type.Enum(['stdout', 'stderr', 'gap'], {
            type: 'string',
            description: 'Source of the line. `gap` marks dropped lines; its text states how many.',
          }),
          text: Type.String(),
        },
        strict,
      ),
    ),
    after: nullable(After),
    more: Type.Boolean({ description: 'Whether later entries are already recorded.' }),
  },
  { ...strict, $id: 'LogPage' },
);
/** See {@link LogPage}. */
export type LogPage = Static<typeof LogPage>;

/** How many lines of a log fit a filter, as far as the request has looked. */
export const LogCount = Type.Object(
  {
    matching: Type.Integer({ minimum: 0, description: 'Matching lines among the events of this answer.' }),
    after: nullable(After),
    more: Type.Boolean({ description: 'Whether later entries are already recorded and not yet counted.' }),
  },
  { ...strict, $id: 'LogCount' },
);
/** See {@link LogCount}. */
export type LogCount = Static<typeof LogCount>;
