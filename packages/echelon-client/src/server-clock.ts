/** The time by the clock of the API's server, as its answers tell it. */
export interface ServerClock {
  /** Takes note of an answer that has just come. */
  hear(response: Response): void;
  /** Now, in ms since 1970; by the own clock before the first answer, and if the two hardly differ. */
  now(): number;
  /** Whether an answer has told the server's time. */
  readonly isKnown: boolean;
}

/** The header has whole seconds, and an answer takes time: a smaller difference may be none. */
const MIN_MS = 2_000;

/** See {@link ServerClock}. Ages and durations by another clock than that of the recorded times are wrong by its error. */
export function createServerClock(): ServerClock {
  let ahead: number | undefined;
  return {
    hear({ headers }) {
      const told = Date.parse(headers.get('date') ?? '');
      if (Number.isNaN(told)) return;
      const difference = told + 500 - Date.now();
      ahead = Math.abs(difference) < MIN_MS ? 0 : difference;
    },
    now: () => Date.now() + (ahead ?? 0),
    get isKnown() {
      return ahead !== undefined;
    },
  };
}
