/** What is wrong with a field of a spec or a request. */
export interface FieldProblem {
  field: string;
  message: string;
}

/** The exit statuses of `echelon`. */
export const EXIT = {
  ok: 0,
  /** The result is negative: an experiment failed, a batch is not ok, a requirement is missing. */
  notOk: 1,
  /** Wrong usage or unreadable input. */
  usage: 2,
  /** The API does not answer. */
  unreachable: 3,
  /** `verify`: nothing is wrong, but not everything could be verified. */
  unproven: 3,
  /** The API refused the request. */
  refused: 4,
} as const;

/** Ends the command with a message on standard error and an exit status of {@link EXIT}. */
export class CliError extends Error {
  readonly exitCode: number;
  /** The API's error code, if the API refused. */
  readonly code: string | undefined;
  /** What the API says about each field; the message contains it too. */
  readonly problems: readonly FieldProblem[];

  constructor(exitCode: number, message: string, code?: string, problems: readonly FieldProblem[] = []) {
    super(message);
    this.name = 'CliError';
    this.exitCode = exitCode;
    this.code = code;
    this.problems = problems;
  }
}
