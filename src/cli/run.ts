import { CommanderError } from 'commander';
import { EchelonError, type FieldProblem } from '../core/errors.ts';
import { CliError, EXIT } from './exit.ts';
import { errorLine, inert, terminal } from './output.ts';
import { createProgram } from './program.ts';

/** What a command threw, as it is said: a status, a code for scripts, a sentence for people. */
interface Failure {
  status: number;
  code?: string | undefined;
  message: string;
  problems?: readonly FieldProblem[];
}

/** What an API, or a server in its place, says is foreign text. */
const complain = (text: string): void => terminal.remark(inert(`echelon: ${text}`));

/** Does what the arguments of this process ask for, and sets its exit status; throws nothing. */
export async function run(): Promise<void> {
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    // Whoever reads may have seen enough (`| head`): that is no fault.
    if (error.code === 'EPIPE') process.exit();
    complain(`standard output cannot be written: ${error.message}`);
    process.exit(EXIT.notOk);
  });
  // There is nobody left to tell.
  process.stderr.on('error', () => undefined);
  const asJson = asksForJson(process.argv.slice(2));
  try {
    await createProgram(terminal, { streams: process, isSilent: asJson }).parseAsync();
  } catch (error) {
    const failure = failureOf(error);
    process.exitCode = failure.status;
    if (failure.status === EXIT.ok) return;
    if (asJson) terminal.remark(errorLine(failure.message, failure));
    else if (!(error instanceof CommanderError)) complain(failure.message);
  }
}

/** Known before anything is parsed, since what cannot be parsed is an error too. */
function asksForJson(argv: readonly string[]): boolean {
  const end = argv.indexOf('--');
  return argv.slice(0, end === -1 ? argv.length : end).includes('--json');
}

/** A CommanderError is said by commander itself, unless it was made silent. */
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
