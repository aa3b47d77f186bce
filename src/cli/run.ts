import { CliError, EXIT } from 'command-kit/exit';
import { inertText } from 'command-kit/inert';
import { errorLine, terminal } from 'command-kit/output';
import { CommanderError } from 'commander';
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
const complain = (text: string): void => terminal.remark(inertText(`echelon: ${text}`));

/** Runs the command of this process's arguments and sets the exit status. It never throws. */
export async function run(): Promise<void> {
  const argv = commandFirst(process.argv.slice(2));
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    // The reader may have seen enough (`| head`); that is not an error.
    if (error.code === 'EPIPE') process.exit();
    complain(`Cannot write to standard output: ${error.message}`);
    process.exit(EXIT.notOk);
  });
  // Without standard error no message can be shown.
  process.stderr.on('error', () => undefined);
  const asJson = asksForJson(argv);
  try {
    const program = await createProgram(terminal, { isSilent: asJson, argv });
    await program.parseAsync(argv, { from: 'user' });
  } catch (error) {
    const failure = failureOf(error);
    process.exitCode = failure.status;
    if (failure.status === EXIT.ok) return;
    if (asJson) process.stderr.write(`${errorLine(failure.message, failure)}\n`);
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

/** The global options that take a value; `--json` takes none. */
const WITH_VALUE = ['--url', '--token', '--state-dir'];

/** Arguments whose global options are before the command, with these options after it, where commander expects them. */
export function commandFirst(argv: readonly string[]): string[] {
  let at = 0;
  for (let word = argv[at]; word !== undefined; word = argv[at]) {
    if (word === '--json' || WITH_VALUE.some((name) => word!.startsWith(`${name}=`))) at += 1;
    else if (WITH_VALUE.includes(word)) at += 2;
    else break;
  }
  const rest = argv.slice(at);
  if (rest.length === 0) return [...argv];
  const end = rest.includes('--') ? rest.indexOf('--') : rest.length;
  return [...rest.slice(0, end), ...argv.slice(0, at), ...rest.slice(end)];
}
