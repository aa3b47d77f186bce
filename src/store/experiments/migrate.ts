import { EchelonError } from '../../core/errors.ts';

/**
 * Newest layout of each kind of stored record, and what brought it about. A layout is raised where an earlier program
 * would misread the record; a field that is merely added is absent in older records and reads as its default.
 *
 * experiment 2: its stream may be in the archive (`segments`), so that the stream in Redis is not the whole one.
 */
const LAYOUTS = { experiment: 2, sweep: 1, cluster: 1, project: 1, key: 1 } as const;

/** A kind of stored record that carries the version of its layout. */
export type RecordKind = keyof typeof LAYOUTS;

type Row = Record<string, unknown>;

/** What makes a record of a layout one of the next; a kind that is not named has had one layout only. */
const STEPS: { readonly [K in RecordKind]?: Readonly<Record<number, (row: Row) => Row>> } = {
  // Nothing of it was archived: it reads as one whose index is empty.
  experiment: { 1: (row) => row },
};

/**
 * A stored record in the newest layout. Where it carries no version it is of the first. Throws EchelonError
 * `record-too-new` for a layout that only a later version of Echelon knows: that is better than a guess.
 */
export function migrated<T extends object>(kind: RecordKind, row: T): T {
  const version = Number((row as Row).version ?? 1);
  const newest = LAYOUTS[kind];
  if (!(version >= 1 && version <= newest)) {
    throw new EchelonError(
      'record-too-new',
      `A stored ${kind} has layout ${version}; this version of Echelon reads layouts up to ${newest}. Upgrade this process`,
    );
  }
  let current = row as Row;
  for (let from = version; from < newest; from++) {
    const step = STEPS[kind]?.[from];
    if (step === undefined) throw new Error(`layout ${from} of a stored ${kind} has no step to the next`);
    current = step(current);
  }
  return current as T;
}
