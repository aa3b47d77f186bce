import type { Batch } from './batch.ts';
import type { Place } from './json-columns.ts';
import { columnOf, faultAt, integerColumn, invalidAt } from './json-columns.ts';
import type { JsonObject } from './json-params.ts';
import { canonicalText, labelOf } from './observation.ts';

/** The part of a batch that says what was observed. */
export type Observed = Pick<Batch, 'observationLabel' | 'observation' | 'dictionary'>;

/**
 * The observations of a batch: `observation`, one value per row, or `observationIndex` into `observations`.
 * Values that are equal as observation.ts has it get one id, by first appearance in the rows.
 */
export function readObservations(place: Place, batch: JsonObject, rows: number): Observed {
  const values = columnOf(place, 'observation', batch.observation, rows);
  if (values !== undefined) {
    if (batch.observationIndex !== undefined) {
      const expected = 'either observation or observationIndex';
      throw faultAt(place, { code: 'bad-key', field: 'observationIndex', expected, found: 'both' });
    }
    return intern(values.length, (row) => values[row]);
  }
  if (batch.observationIndex === undefined || batch.observationIndex === null) {
    return { observationLabel: String };
  }
  const entries = batch.observations;
  if (!Array.isArray(entries)) {
    throw invalidAt(place, 'observations', 'the array that observationIndex points into', entries);
  }
  const range = { rows, largest: entries.length - 1 };
  const index = integerColumn(place, 'observationIndex', batch.observationIndex, range)!;
  const canonical: (string | undefined)[] = [];
  return intern(
    rows,
    (row) => {
      const at = index[row]!;
      canonical[at] ??= canonicalText(entries[at]);
      return canonical[at];
    },
    true,
  );
}

function intern(rows: number, valueAt: (row: number) => unknown, areCanonical = false): Observed {
  const idOf = new Map<string, number>();
  const observation = new Int32Array(rows);
  for (let row = 0; row < rows; row++) {
    const value = valueAt(row);
    const text = areCanonical ? (value as string) : canonicalText(value);
    let id = idOf.get(text);
    if (id === undefined) {
      id = idOf.size;
      idOf.set(text, id);
    }
    observation[row] = id;
  }
  const texts = Array.from(idOf.keys());
  return {
    observation,
    dictionary: { count: texts.length, texts },
    observationLabel: (id) => (texts[id] === undefined ? String(id) : labelOf(texts[id])),
  };
}
