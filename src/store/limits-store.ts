/** A crash of ours that an experiment may have caused: a dispatcher died or froze as soon as it had it in hand. */
export interface Crash {
  /** ms since 1970, by the server's clock. */
  at: number;
  attempt: number;
  /** Whose lease ran out. */
  dispatcher: string;
  /** What the experiment was in then. */
  state: string;
}

/** Limits that end an experiment from outside, judged by the server's clock. */
export interface LimitsStore {
  /** Ends experiments that wait although their deadline has passed, at most `limit`; how many it ended. */
  failOverdue(limit: number): Promise<number>;
}
