import { CommanderError } from 'commander';
import { CliError, EXIT } from 'echelon-verify/cli/exit';
import { errorLine, terminal } from 'echelon-verify/cli/output';
import { inert } from 'echelon-verify/text/inert';
import { EchelonError, type FieldProblem } from '../core/errors.ts';
import { createProgram } from './program.ts';

/** An error of a command: a status, a code for scripts, a message for the user. */
interface Failure {
  status: number;
  code?: string | undefined;
  message: string;
  problems?: readonly FieldProblem[];
}

/** The message may come from a server, so it is foreign text. */
const complain = (text: string): void => terminal.remark(inert(`echelon: ${text}`));

/** Runs the command of this process's arguments and sets the exit status. It never throws. */
export async function run(): Promise<void> {
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    // The reader may have seen enough (`| head`); that is not an error.
    if (error.code === 'EPIPE') process.exit();
    complain(`Cannot write to standard output: ${error.message}`);
    process.exit(EXIT.notOk);
  });
  // Without standard error no message can be shown.
  process.stderr.on('error', () => undefined);
  const asJson = asksForJson(process.argv.slice(2));
  try {
    const argv = process.argv.slice(2);
    await (await createProgram(terminal, { isSilent: asJson, argv })).parseAsync();
  } catch (error) {
    const failure = failureOf(error);
    process.exitCode = failure.status;
    if (failure.status === EXIT.ok) return;
    if (asJson) terminal.remark(errorLine(failure.message, failure));
    else if (!(error instanceof CommanderError)) complain(failure.message);
  }
}

/** Known before parsing, because a parse error must be JSON too. */
function asksForJson(argv: readonly string[]): boolean {
  const end = argv.indexOf('--');
  return argv.slice(0, end === -1 ? argv.length : end).includes('--json');
}

/** Commander prints its own errors, except with `--json`. */
function failureOf(error: unknown): Failure {
  if (error instanceof CommanderError) {
    const message = error.message.replace(/^error: /, '');
    return { status: error.exitCode === 0 ? EXIT.ok : EXIT.usage, message };
  }
  if (error instanceof CliError) {
    const { exitCode: status, code, message, problems } = error;
    return { status, code, message, problems };
  }
  if (error instanceof EchelonError) {
    const lines = error.problems.map(({ field, message }) => `\n  ${field}: ${message}`).join('');
    const { code, problems } = error;
    return { status: EXIT.notOk, code, message: `${error.message}${lines}`, problems };
  }
  if (error instanceof Error && error.name === 'SettingsError')
    return { status: EXIT.usage, message: error.message };
  return { status: EXIT.notOk, message: String(error instanceof Error ? error.stack : error) };
}
