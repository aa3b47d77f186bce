import type { MetricValue, NumberedEvent } from '../../core/events.ts';

/** MAX length of a metric's name in the progress and the series; the events have longer ones too. */
const METRIC_NAME_LENGTH = 200;
/** MAX metric names in one call; far more than an experiment has series. */
const MAX_NAMES = 4000;
/** Bytes of a value in a row: the index of its name, and the value. */
const VALUE_BYTES = 10;

/** The metric names of these events, each with its index; the first {@link MAX_NAMES}. */
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
