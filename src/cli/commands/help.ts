import { examples } from 'command-kit/examples';
import { CliError, EXIT } from 'command-kit/exit';
import { nearestName } from 'command-kit/nearest';
import { Command } from 'commander';

/** `echelon help [command...]`: the same as `--help` of that command. */
function helpCommand(): Command {
  return new Command('help')
    .description('Show the help of a command.')
    .argument('[command...]', 'the command, such as `sweeps submit`')
    .addHelpText('after', examples('echelon help sweeps submit'))
    .action((names: string[], _options: unknown, command: Command) => {
      let at = command.parent!;
      for (const name of names) {
        const next = at.commands.find((sub) => sub.name() === name || sub.aliases().includes(name));
        if (next === undefined) throw new CliError(EXIT.usage, unknownCommand(name, at));
        at = next;
      }
      at.outputHelp();
    });
}

function unknownCommand(name: string, { commands }: Command): string {
  const near = nearestName(
    name,
    commands.map((sub) => sub.name()),
  );
  const hint = near === undefined ? 'List the commands with `echelon --help`.' : `Did you mean ${near}?`;
  return `There is no command ${JSON.stringify(name)}. ${hint}`;
}

/** The commands of this module by their names. */
export const commands = { help: helpCommand };
