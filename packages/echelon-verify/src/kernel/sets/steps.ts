/**
 * The rows of a batch as the estimators see them: one row is one step of one trajectory.
 *
 * All columns have `rows` entries, in the batch's own order. Ids are dense (0, 1, 2, … without large holes),
 * since memory is proportional to the largest id; `trajectory` is unique over the whole batch. Rows of one
 * trajectory stand in time order, but need not be adjacent.
 */
export interface StepColumns {
  readonly rows: number;
  /** Rows of one group started from the same initial state. */
  readonly group: Int32Array;
  readonly trajectory: Int32Array;
  /** Equal ids mean equal anchor observations. */
  readonly observation: Int32Array;
}

/** `mean_std_norm` divides by the deviation, `mean_norm` only removes the mean. */
export type NormMode = 'mean_std_norm' | 'mean_norm';

/** The largest history length that any function of the kernel takes. */
export const MAX_HISTORY_LENGTH = 1024;

/** Throws a RangeError unless the history length is an integer from 0 to {@link MAX_HISTORY_LENGTH}. */
export function checkHistoryLength(historyLength: number): void {
  if (!Number.isInteger(historyLength) || historyLength < 0 || historyLength > MAX_HISTORY_LENGTH) {
    throw new RangeError(
      `historyLength must be an integer from 0 to ${MAX_HISTORY_LENGTH}, not ${historyLength}`,
    );
  }
}

/** Throws a RangeError unless the column has one entry per row. */
export function checkLength(name: string, column: { readonly length: number }, rows: number): void {
  if (column.length !== rows) {
    throw new RangeError(`column ${name} has ${column.length} entries, expected ${rows}`);
  }
}

/** The number of ids a dense column spans: its largest id + 1. Throws a RangeError on a negative id. */
export function idCount(name: string, ids: Int32Array): number {
  let largest = -1;
  let bits = 0;
  for (let row = 0; row < ids.length; row++) {
    const id = ids[row]!;
    bits |= id;
    if (id > largest) largest = id;
  }
  if (bits < 0) throw new RangeError(`column ${name} holds a negative id`);
  return largest + 1;
}

/** Dense ids of the pairs of group and observation. */
export function statesOf({ group, observation }: StepColumns): Int32Array {
  const known = new Map<number, number>();
  const groups = idCount('group', group);
  return observation.map((id, row) => {
    const key = id * groups + group[row]!;
    if (!known.has(key)) known.set(key, known.size);
    return known.get(key)!;
  });
}
