/** The loss of a dispatcher while it launched or took over one attempt, and nothing else. */
export interface Crash {
  /** When its lease was found expired, in ms since 1970, by the server's clock. */
  at: number;
  attempt: number;
  /** The dispatcher that was lost. */
  dispatcher: string;
  during: 'launch' | 'takeover';
}

/** Limits that end an experiment from outside, judged by the server's clock. */
export interface LimitsStore {
  /** Ends experiments that wait although their deadline has passed, at most `limit`; how many it ended. */
  failOverdue(limit: number): Promise<number>;
}
