/** Where to begin to read an experiment's log. */
export interface LogPlace {
  /** An event that does not come behind what was asked for; null: nothing of the log comes before it. */
  entry: string | null;
  /** Lines before that event, over all attempts. */
  before: number;
  /** Lines and bytes (with line breaks) of the whole log so far. */
  lines: number;
  bytes: number;
}

/** The index of the logs: about one event in 256 lines is known by its number of lines. */
export interface LogStore {
  /** For a line (from 1), or the place of an event. The cost does not depend on the length of the log. */
  logPlace(id: string, of: { line: number } | { entry: string }): Promise<LogPlace>;
}
