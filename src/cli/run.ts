import { CommanderError } from 'commander';
import { EchelonError } from '../core/errors.ts';
import { CliError, EXIT } from './exit.ts';
import { inert, terminal } from './output.ts';
import { createProgram } from './program.ts';

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
  try {
    await createProgram(terminal).parseAsync();
  } catch (error) {
    process.exitCode = statusOf(error);
  }
}

/** The exit status for what a command threw, which is said where nobody has said it yet. */
function statusOf(error: unknown): number {
  if (error instanceof CommanderError) return error.exitCode === 0 ? EXIT.ok : EXIT.usage;
  if (error instanceof CliError) {
    complain(error.message);
    return error.exitCode;
  }
  if (error instanceof EchelonError) {
    const problems = error.problems.map(({ field, message }) => `\n  ${field}: ${message}`).join('');
    complain(`${error.message}${problems}`);
    return EXIT.notOk;
  }
  if (error instanceof Error && error.name === 'SettingsError') {
    complain(error.message);
    return EXIT.usage;
  }
  complain(String(error instanceof Error ? error.stack : error));
  return EXIT.notOk;
}
