#!/usr/bin/env node
import { CommanderError } from 'commander';
import { EchelonError } from '../core/errors.ts';
import { CliError, EXIT } from './exit.ts';
import { inert, terminal } from './output.ts';
import { createProgram } from './program.ts';

// Whoever reads may have seen enough (`| head`): that is no fault.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code !== 'EPIPE') throw error;
  process.exit();
});

/** What an API, or a server in its place, says is foreign text. */
const complain = (text: string) => terminal.remark(inert(`echelon: ${text}`));

try {
  await createProgram(terminal).parseAsync();
} catch (error) {
  if (error instanceof CommanderError) {
    process.exitCode = error.exitCode === 0 ? EXIT.ok : EXIT.usage;
  } else if (error instanceof CliError) {
    complain(error.message);
    process.exitCode = error.exitCode;
  } else if (error instanceof EchelonError) {
    const problems = error.problems.map(({ field, message }) => `\n  ${field}: ${message}`).join('');
    complain(`${error.message}${problems}`);
    process.exitCode = EXIT.notOk;
  } else if (error instanceof Error && error.name === 'SettingsError') {
    complain(error.message);
    process.exitCode = EXIT.usage;
  } else {
    complain(String(error instanceof Error ? error.stack : error));
    process.exitCode = EXIT.notOk;
  }
}
