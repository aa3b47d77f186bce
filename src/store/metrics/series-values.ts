import type { MetricValue, NumberedEvent } from '../../core/events.ts';

/** Longer names of metrics are left out of the progress and the series; they are in the events. */
const METRIC_NAME_LENGTH = 200;
/** Names that one call tells of; far more than an experiment has series. */
const MAX_NAMES = 4000;
/** Bytes of a value in a row: the place of its name, and the value. */
const VALUE_BYTES = 10;

/** The names of metrics that occur in these events, each with its place; the first {@link MAX_NAMES}. */
export function metricNamesOf(events: readonly NumberedEvent[]): Map<string, number> {
  const names = new Map<string, number>();
  for (const { event } of events) {
    if (event.type !== 'metrics') continue;
    for (const name of Object.keys(event.values)) {
      if (names.size >= MAX_NAMES) return names;
      if (name.length <= METRIC_NAME_LENGTH && !names.has(name)) names.set(name, names.size);
    }
  }
  return names;
}

/** The values of one event as `append.lua` takes them; those without a place in `names` are left out. */
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
