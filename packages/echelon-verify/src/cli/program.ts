import { Command, CommanderError } from 'commander';
import { fileCommands } from './file-commands.ts';

/*
 * `echelon-verify FILE…`: the commands on recorded batches as a separate program, for the package `echelon-verify`. The package
 * has neither the service nor its dependencies.
 */
const program = new Command('echelon-verify')
  .description('Verify the advantages that a training wrote to disk: `echelon-verify FILE…`.')
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
