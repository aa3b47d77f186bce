#!/usr/bin/env node
import { Command, CommanderError } from 'commander';
import { fileCommands } from './commands/files.ts';

/*
 * `echelon-verify FILE…`: the commands on recorded batches as a program of their own, for the package `echelon-verify`,
 * which has neither the service nor its dependencies.
 */
const program = new Command('echelon-verify')
  .description(
    'Check the advantages of a training that it wrote to disk. `echelon-verify FILE…` verifies them.',
  )
  .exitOverride();
const [verify, ...others] = fileCommands(process);
program.addCommand(verify!, { isDefault: true });
for (const command of others) program.addCommand(command);
for (const command of program.commands) command.exitOverride();
try {
  await program.parseAsync();
} catch (error) {
  if (!(error instanceof CommanderError)) throw error;
  process.exitCode = error.exitCode === 0 ? 0 : 2;
}
