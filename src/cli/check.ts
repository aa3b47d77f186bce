/** A requirement of Echelon on this machine. */
export interface Check {
  name: string;
  ok: boolean;
  found: string;
  /** What to do if it is missing. */
  remedy: string;
}
