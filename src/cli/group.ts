import type { Output } from 'command-kit/output';
import { Command } from 'commander';

/** Heading of the options that all commands on the API share, in a help text. */
export const GLOBAL_OPTIONS = 'Global options:';

const DEFAULTS: ReadonlySet<string> = new Set(['ls', 'show']);

/**
 * A command that only holds others, such as `clusters`, under its plural name with a singular alias. Its command `ls`, or
 * `show` if there is nothing to list, runs if none is named.
 */
export function group(
  { name, alias, description }: { name: string; alias?: string; description: string },
  commands: readonly ((output: Output) => Command)[],
): (output: Output) => Command {
  return (output) => {
    const made = new Command(name).description(description);
    if (alias !== undefined) made.alias(alias);
    for (const make of commands) {
      const command = make(output);
      made.addCommand(command, { isDefault: DEFAULTS.has(command.name()) });
    }
    return made;
  };
}
