import { type Static, Type } from 'typebox';
import { FEED_TYPES } from '../core/events.ts';
import { Count, CountOf, Instant, nullable, Text } from './answer-parts.ts';
import type { EventSchema } from './events.ts';
import { NamedObject, StrictObject } from './objects.ts';

const After = Text('Stream id of the last entry of this page. Send it as `after` to continue.');

/** An event as `data` of a server-sent event; its `id` and `event` lines repeat the id and the type. */
export const EventMessage = NamedObject('EventMessage', {
  id: Text('Stream id. Send it as Last-Event-ID to continue after this event.'),
  at: Instant,
  event: Type.Unsafe<EventSchema>({ $ref: 'ExperimentEvent#' }),
});

/** An event of a feed as `data` of a server-sent event; its `id` and `event` lines repeat the id and the type. */
export const FeedMessage = NamedObject('FeedMessage', {
  id: Text('Stream id. Send it as Last-Event-ID to continue after this event.'),
  at: Instant,
  project: Type.String(),
  experiment: nullable(Text('Id of the experiment; null for an event of a sweep or a cluster.')),
  name: Text('Name of the experiment, the sweep or the cluster.'),
  sweep: nullable(Text('Id of the sweep; null for an experiment without one.')),
  event: Type.Object(
    { type: Type.Enum([...FEED_TYPES], { type: 'string' }) },
    {
      additionalProperties: true,
      description:
        "The event as in the experiment's stream. An event `sweep` has the state of the sweep and the number of children in each state, an event `cluster` the time of the last answer of its ray-worker.",
    },
  ),
});

/** `data` of the first event of a feed, `start`. */
export const FeedStart = NamedObject('FeedStart', {
  id: Text('Position in the feed after which this stream starts.'),
});

const MetricNumber = Type.Union([
  Type.Number(),
  Type.Enum(['NaN', 'Infinity', '-Infinity'], { type: 'string' }),
]);

/** Values of metrics, by name, in the order in which they were recorded. */
export const MetricPoints = NamedObject('MetricPoints', {
  series: Type.Array(
    StrictObject({
      name: Type.String(),
      points: Type.Array(
        StrictObject({
          attempt: Count,
          step: Count,
          value: MetricNumber,
          at: Instant,
        }),
      ),
    }),
  ),
  after: nullable(After),
  more: Type.Boolean({ description: 'Whether later entries are already recorded.' }),
});
export type MetricPoints = Static<typeof MetricPoints>;

const ChartPoint = StrictObject({
  attempt: Count,
  from: CountOf('First step of the point.'),
  to: CountOf('Last step of the point.'),
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
  nan: CountOf('Number of NaN values in the point.'),
  infinite: CountOf('Number of infinite values in the point.'),
  at: nullable(Instant, {
    description:
      'When the last value of the point was recorded. In a summarized chart, interpolated between recorded times. Null if the value was recorded without a time.',
  }),
});
const chart = {
  series: Type.Array(StrictObject({ name: Type.String(), points: Type.Array(ChartPoint) })),
  resolution: Type.Integer({
    minimum: 1,
    description: 'Maximum number of points per series in this response.',
  }),
};

/** Metrics over the steps. */
export const MetricChart = NamedObject('MetricChart', chart);
export type MetricChart = Static<typeof MetricChart>;

/** The charts of several experiments. */
export const MetricCharts = NamedObject('MetricCharts', {
  items: Type.Array(StrictObject({ experiment: Type.String(), ...chart })),
});

/** The metrics of an experiment, by name. */
export const MetricNames = NamedObject('MetricNames', {
  items: Type.Array(
    StrictObject({
      name: Type.String(),
      last: { ...MetricNumber, description: 'Value that was recorded last, whatever its step.' },
    }),
  ),
});
export type MetricNames = Static<typeof MetricNames>;

/** Lines of the driver's output. */
export const LogPage = NamedObject('LogPage', {
  lines: Type.Array(
    StrictObject({
      line: nullable(
        Type.Integer({ minimum: 1, description: 'Line number over all attempts; null if unknown.' }),
      ),
      id: Text('Stream id of the event that holds the line.'),
      at: Instant,
      attempt: Count,
      source: Type.Enum(['stdout', 'stderr', 'gap'], {
        type: 'string',
        description: 'Source of the line. `gap` marks dropped lines; its text states how many.',
      }),
      text: Type.String(),
    }),
  ),
  progress: Type.Array(
    StrictObject({ source: Type.Enum(['stdout', 'stderr'], { type: 'string' }), text: Type.String() }),
    {
      description:
        'Present states of lines that have not ended, such as progress bars; only with the last page. They have no number: of such a line only the last state becomes a line.',
    },
  ),
  after: nullable(After),
  more: Type.Boolean({ description: 'Whether later entries are already recorded.' }),
});
export type LogPage = Static<typeof LogPage>;

/** How many lines of a log fit a filter, as far as the request has looked. */
export const LogCount = NamedObject('LogCount', {
  matching: CountOf('Matching lines among the events of this answer.'),
  after: nullable(After),
  more: Type.Boolean({ description: 'Whether later entries are already recorded and not yet counted.' }),
});
export type LogCount = Static<typeof LogCount>;
