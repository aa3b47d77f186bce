import { EchelonError } from '../../core/errors.ts';

/**
 * The layout of each kind of stored record. A layout is raised if an earlier program would misread the record; a field
 * that is merely added is absent in older records and reads as its default.
 */
const LAYOUTS = { experiment: 1, sweep: 1, cluster: 1, project: 1, key: 1 } as const;

/**
 * The layout of a whole store, which its installation begins with. It is raised if records before it cannot be read at all. No store
 * without one is read: it is from before the first release.
 */
export const STORE_LAYOUT = 1;

/** Throws EchelonError `store-foreign` for a store in the layout of another version; null: it states none. */
export function checkStoreLayout(found: string | null): void {
  if (found === String(STORE_LAYOUT)) return;
  const version = found === null ? 'from before 0.1.0' : `in layout ${found}`;
  throw new EchelonError(
    'store-foreign',
    `The data of this Redis is ${version}; this version of Echelon reads layout ${STORE_LAYOUT}. Start the version that wrote it, or name an empty Redis and an empty archive.`,
  );
}

/** A kind of stored record that carries the version of its layout. */
type RecordKind = keyof typeof LAYOUTS;

/** The newest layout of such records that this program reads. */
export const newestLayout = (kind: RecordKind): number => LAYOUTS[kind];

/**
 * The stored record, if this program knows its layout. A record without a version has layout 1. Throws EchelonError
 * `record-too-new` for a layout that only a later version of Echelon knows.
 */
export function inKnownLayout<T extends object>(kind: RecordKind, row: T): T {
  const version = Number((row as { version?: unknown }).version ?? 1);
  const newest = LAYOUTS[kind];
  if (version >= 1 && version <= newest) return row;
  throw new EchelonError(
    'record-too-new',
    `A stored ${kind} has layout ${version}; this version of Echelon reads layouts up to ${newest}. Upgrade this process.`,
  );
}
