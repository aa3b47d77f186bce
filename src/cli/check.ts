/** A requirement of Echelon on this machine. */
export interface Check {
  name: string;
  ok: boolean;
  /** What works without it, at a cost: it does not count as missing. */
  warning?: boolean;
  found: string;
  /** What to do if it is missing. */
  remedy: string;
}
