#!/usr/bin/env node
import { CommanderError } from 'commander';
import { EchelonError } from '../core/errors.ts';
import { CliError, EXIT } from './exit.ts';
import { terminal } from './output.ts';
import { createProgram } from './program.ts';

// Whoever reads may have seen enough (`| head`): that is no fault.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code !== 'EPIPE') throw error;
  process.exit();
});

try {
  await createProgram(terminal).parseAsync();
} catch (error) {
  if (error instanceof CommanderError) {
    process.exitCode = error.exitCode === 0 ? EXIT.ok : EXIT.usage;
  } else if (error instanceof CliError) {
    terminal.remark(`echelon: ${error.message}`);
    process.exitCode = error.exitCode;
  } else if (error instanceof EchelonError) {
    const problems = error.problems.map(({ field, message }) => `\n  ${field}: ${message}`).join('');
    terminal.remark(`echelon: ${error.message}${problems}`);
    process.exitCode = EXIT.notOk;
  } else if (error instanceof Error && error.name === 'SettingsError') {
    terminal.remark(`echelon: ${error.message}`);
    process.exitCode = EXIT.usage;
  } else {
    terminal.remark(`echelon: ${error instanceof Error ? error.stack : String(error)}`);
    process.exitCode = EXIT.notOk;
  }
}
