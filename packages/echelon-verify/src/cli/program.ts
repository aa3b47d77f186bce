import { createRequire } from 'node:module';
import { Command, CommanderError } from 'commander';
import { fileCommands } from './file-commands.ts';

/*
 * `echelon-verify FILE…`: the commands on recorded batches as a separate program, for the package `echelon-verify`. The package
 * has neither the service nor its dependencies.
 */
const program = new Command('echelon-verify')
  .description('Verify the advantages that a training wrote to disk: `echelon-verify FILE…`.')
  .option('-V, --version', 'print the version')
  .exitOverride();
const [verify, ...others] = fileCommands(process);
const names = [verify!, ...others].map((command) => command.name()).join('|');
// The commands are those of `echelon`, and so are the examples in their help.
program.configureOutput({
  writeOut: (text) =>
    void process.stdout.write(text.replace(new RegExp(`\\bechelon (?=${names})`, 'g'), 'echelon-verify ')),
});
program.on('option:version', () => {
  const { version } = createRequire(import.meta.url)('../../package.json') as { version: string };
  process.stdout.write(`echelon-verify ${version}\n`);
  throw new CommanderError(0, 'commander.version', version);
});
program.addCommand(verify!, { isDefault: true });
for (const command of others) program.addCommand(command);
for (const command of program.commands) command.exitOverride().configureOutput(program.configureOutput());
try {
  await program.parseAsync();
} catch (error) {
  if (!(error instanceof CommanderError)) throw error;
  process.exitCode = error.exitCode === 0 ? 0 : 2;
}
