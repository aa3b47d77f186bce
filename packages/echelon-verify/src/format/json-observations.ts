import { present } from '../base/present.ts';
import { GOAL } from '../kernel/graph.ts';
import type { Batch } from './batch.ts';
import type { Place } from './json-columns.ts';
import { columnOf, faultAt, integerColumn, invalidAt } from './json-columns.ts';
import type { JsonObject } from './json-params.ts';
import { canonicalText, labelOf } from './observation.ts';

/** The part of a batch that says what was observed. */
export type Observed = Pick<Batch, 'observationLabel' | 'observation' | 'nextObservation' | 'dictionary'>;

/**
 * The observations of a batch: `observation`, one value per row, or `observationIndex` into `observations`; and likewise
 * `nextObservation` or `nextObservationIndex`, in which null stands for the goal.
 * Values that are equal as observation.ts has it get one id, by first appearance in the rows.
 */
export function readObservations(place: Place, batch: JsonObject, rows: number): Observed {
  const values = columnOf(place, 'observation', batch.observation, rows);
  if (values !== undefined) {
    if (batch.observationIndex !== undefined) {
      const expected = 'either observation or observationIndex';
      throw faultAt(place, { code: 'bad-key', field: 'observationIndex', expected, found: 'both' });
    }
    const next = columnOf(place, 'nextObservation', batch.nextObservation, rows);
    return intern(rows, (at) => canonicalText(at < rows ? values[at] : next![at - rows]), next);
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
  const nextEntries = columnOf(place, 'nextObservationIndex', batch.nextObservationIndex, rows);
  const stated = nextEntries?.map((entry) => entry ?? 0);
  const next = integerColumn(place, 'nextObservationIndex', stated, range);
  const canonical: (string | undefined)[] = [];
  return intern(
    rows,
    (row) => {
      const at = row < rows ? index[row]! : next![row - rows]!;
      canonical[at] ??= canonicalText(entries[at]);
      return canonical[at];
    },
    nextEntries,
  );
}

/** `textAt` gives the canonical texts of the observations, then those of the next ones; null in `next` is the goal. */
function intern(
  rows: number,
  textAt: (at: number) => string,
  next: readonly unknown[] | undefined,
): Observed {
  const idOf = new Map<string, number>();
  const idAt = (at: number): number => {
    const text = textAt(at);
    const known = idOf.get(text);
    if (known === undefined) idOf.set(text, idOf.size);
    return known ?? idOf.size - 1;
  };
  const observation = Int32Array.from({ length: rows }, (_, row) => idAt(row));
  const nextObservation =
    next && Int32Array.from(next, (entry, row) => ((entry ?? null) === null ? GOAL : idAt(rows + row)));
  const texts = Array.from(idOf.keys());
  return {
    observation,
    ...present({ nextObservation }),
    dictionary: { count: texts.length, texts },
    observationLabel: (id) => (texts[id] === undefined ? String(id) : labelOf(texts[id])),
  };
}
