import { Command } from 'commander';
import { nearestName } from '../../core/nearest.ts';
import { CliError, EXIT } from '../exit.ts';

/** `echelon help [command...]`: what `--help` says, of commands within commands too. */
export function helpCommand(): Command {
  return new Command('help')
    .description('say more about a command')
    .argument('[command...]')
    .addHelpText('after', '\nExample:\n  echelon help sweep submit')
    .action((names: string[], _options: unknown, command: Command) => {
      let at = command.parent!;
      for (const name of names) {
        const known = at.commands.map((sub) => sub.name());
        const next = at.commands.find((sub) => sub.name() === name);
        if (next === undefined) throw new CliError(EXIT.usage, noCommand(name, known));
        at = next;
      }
      at.outputHelp();
    });
}

function noCommand(name: string, known: readonly string[]): string {
  const near = nearestName(name, known);
  const hint = near === undefined ? '--help lists what there is' : `did you mean ${near}?`;
  return `There is no command ${JSON.stringify(name)}; ${hint}`;
}
