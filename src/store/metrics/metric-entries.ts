import type {
  AttemptEvent,
  ExperimentEvent,
  MetricValue,
  NumberedEvent,
  StreamEntry,
} from '../../core/events.ts';
import { isMetricName } from '../../core/metric-name.ts';

/** Bytes of a value: the number of its metric (in a row: the index of its name), and the value. */
const VALUE_BYTES = 10;

/**
 * A stored entry of a stream. Values of metrics may be bytes beside the event, by the number of the metric: a tenth of
 * their JSON. Undefined if the event is complete.
 */
interface StoredEntry {
  id: string;
  at: string;
  event: string;
  values: Buffer | undefined;
}

/** Names of metrics by their numbers. */
type MetricNumbers = ReadonlyMap<number, string>;

/** From the answer of HGETALL: name and number in turn. */
export function toMetricNumbers(flat: readonly (Buffer | string)[]): MetricNumbers {
  const names = new Map<number, string>();
  for (let at = 0; at + 1 < flat.length; at += 2) names.set(Number(flat[at + 1]), flat[at]!.toString());
  return names;
}

/** Rows of `read.lua` and `read-signals.lua`: id, at, event, values or ''. */
export function toStoredEntries(rows: readonly (readonly Buffer[])[]): StoredEntry[] {
  return rows.map(([id, at, event, values]) => ({
    id: id!.toString(),
    at: at!.toString(),
    event: event!.toString(),
    values: values === undefined || values.length === 0 ? undefined : values,
  }));
}

/** The entry with its complete event. */
export function toStreamEntry({ id, at, event, values }: StoredEntry, names: MetricNumbers): StreamEntry {
  const parsed = JSON.parse(event) as ExperimentEvent;
  return {
    id,
    at: Number(at),
    event: values === undefined ? parsed : withValues(parsed, values, names),
  };
}

function withValues(event: ExperimentEvent, bytes: Buffer, names: MetricNumbers): AttemptEvent {
  const values: [string, MetricValue][] = [];
  for (let at = 0; at < bytes.length; at += VALUE_BYTES) {
    const number = bytes.readUInt16LE(at);
    values.push([names.get(number) ?? `metric ${number}`, toValue(bytes.readDoubleLE(at + 2))]);
  }
  // Object.fromEntries also accepts names such as `__proto__`.
  return { ...(event as Extract<AttemptEvent, { type: 'metrics' }>), values: Object.fromEntries(values) };
}

/** A number as JSON can carry it. */
export function toValue(value: number): MetricValue {
  if (Number.isFinite(value)) return value;
  if (Number.isNaN(value)) return 'NaN';
  return value > 0 ? 'Infinity' : '-Infinity';
}

/** MAX metric names in one call; far more than an experiment has series. */
const MAX_NAMES = 4000;

/** The metric names of these events, each with its index; the first {@link MAX_NAMES}. */
export function metricNamesOf(events: readonly NumberedEvent[]): Map<string, number> {
  const names = new Map<string, number>();
  for (const { event } of events) {
    if (event.type !== 'metrics') continue;
    for (const name of Object.keys(event.values)) {
      if (names.size >= MAX_NAMES) return names;
      if (isMetricName(name) && !names.has(name)) names.set(name, names.size);
    }
  }
  return names;
}

/** The values of one event as arguments of `append.lua`, without those whose names are not in `names`. */
export function packValues(
  values: Readonly<Record<string, MetricValue>>,
  names: ReadonlyMap<string, number>,
): Uint8Array {
  const known = Object.entries(values).flatMap(([name, value]) => {
    const place = names.get(name);
    return place === undefined ? [] : [{ place, value: Number(value) }];
  });
  const bytes = Buffer.alloc(known.length * VALUE_BYTES);
  known.forEach(({ place, value }, index) => {
    bytes.writeUInt16LE(place, index * VALUE_BYTES);
    bytes.writeDoubleLE(value, index * VALUE_BYTES + 2);
  });
  return bytes;
}
