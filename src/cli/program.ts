import type { Output } from 'command-kit/output';
import { wrapped } from 'command-kit/width';
import { Command, Help } from 'commander';
import type { TextStreams } from 'echelon-verify/cli';
import { COMMANDS, type Entry, loaded } from './commands.ts';
import { GLOBAL_OPTIONS } from './group.ts';
import { VERSION } from './package-version.ts';

const AFTER = `
Options:
  -h, --help     show the help of the program or of a command
  -V, --version  print the version

Examples:
  echelon demo
  echelon up
  echelon submit deploy/examples/hgpo.yaml --watch
  echelon verify dump.json.gz

\`echelon COMMAND --help\` shows arguments, options and examples.
Exit status: 0 success, 1 negative result, 2 wrong usage or unreadable input,
3 no answer from the API, 4 refused by the API.`;

/** Width of a help text that does not go to a terminal. */
const HELP_WIDTH = 80;

/** The whole command line. Parsing throws commander's errors and those of the commands. */
export async function createProgram(
  output: Output,
  options: {
    /** Where the commands on batch files write. Default: the streams of this process. */
    streams?: TextStreams;
    /** Prints no errors; the caller does. */
    isSilent?: boolean;
    /** The arguments that will be parsed: only the command that they name is loaded. Default: all commands are loaded. */
    argv?: readonly string[];
  } = {},
): Promise<Command> {
  const { streams = process, isSilent = false, argv } = options;
  const program = new Command('echelon')
    .description(
      'Control plane for HGPO experiments on Ray clusters. It recomputes every advantage batch and reports wrong ones.',
    )
    .usage('COMMAND [options]')
    .version(VERSION)
    .helpOption('-h, --help', 'show this help')
    .showSuggestionAfterError()
    .exitOverride()
    .addHelpText('after', AFTER);
  configure(program, isSilent);
  const isWanted = wanted(argv);
  for (const [heading, entries] of COMMANDS) {
    program.commandsGroup(heading);
    for (const entry of entries)
      program.addCommand(isWanted(entry) ? await loaded(entry, { output, streams }) : stub(entry));
  }
  inherit(program, 'echelon');
  // The program has its own `help` command.
  return program.helpCommand(false);
}

function configure(program: Command, isSilent: boolean): void {
  const plain = new Help();
  program
    .configureOutput({
      outputError: (text, write) => write(text.replace(/^error: /, 'echelon: ')),
      writeErr: (text) => void process.stderr.write(wrapped(text, process.stderr.columns)),
      writeOut: (text) => void process.stdout.write(wrapped(text, process.stdout.columns ?? HELP_WIDTH)),
      ...(isSilent && { writeErr: () => undefined }),
    })
    .configureHelp({
      // A narrow column of whole words is easier to read than words that the terminal breaks.
      minWidthToWrap: 16,
      // The help of each command lists its arguments and options.
      subcommandDescription: (command) => command.summary() || firstSentence(command.description()),
      subcommandTerm: (command) => [command.name(), ...command.aliases()].join(', '),
      // A command that only holds others has no options but --help. Those of the program follow its commands.
      visibleOptions: (command) => (command.commands.length > 0 ? [] : plain.visibleOptions(command)),
      groupItems: (unsorted, visible, groupOf) => globalsLast(plain.groupItems(unsorted, visible, groupOf)),
    });
}

/** A list of commands shows the first sentence of each description. */
const firstSentence = (text: string): string => text.split(/[.:](?: |$)/, 1)[0]!;

/** True for the entries that `argv` needs: one command, or all for `completion` and without `argv`. */
function wanted(argv: readonly string[] | undefined): (entry: Entry) => boolean {
  if (argv === undefined) return () => true;
  const words = argv.filter((word) => !word.startsWith('-'));
  if (words[0] === 'completion') return () => true;
  const names = words.slice(0, words[0] === 'help' ? 2 : 1);
  return ({ name, alias }) => names.some((word) => word === name || word === alias);
}

/** A command that is only listed. */
function stub({ name, alias, summary }: Entry): Command {
  const command = new Command(name).summary(summary);
  return alias === undefined ? command : command.alias(alias);
}

/** The command's own options come first. */
function globalsLast<T>(groups: Map<string, T[]>): Map<string, T[]> {
  const globals = groups.get(GLOBAL_OPTIONS);
  if (globals === undefined) return groups;
  groups.delete(GLOBAL_OPTIONS);
  return groups.set(GLOBAL_OPTIONS, globals);
}

function inherit(command: Command, path: string): void {
  command.showHelpAfterError(`(see \`${path} --help\`)`);
  for (const sub of command.commands) {
    sub.copyInheritedSettings(command);
    if (sub.commands.length > 0) refuseUnknown(sub.helpCommand(false));
    inherit(sub, `${path} ${sub.name()}`);
  }
}

/** An unknown word after a group would otherwise count as an argument of the group's default command. */
function refuseUnknown(group: Command): void {
  group.hook('preSubcommand', async (_group, sub) => {
    const names = group.commands.map((one) => one.name());
    const [word] = group.args;
    if (word === undefined || word.startsWith('-') || names.includes(word)) return;
    if (sub.registeredArguments.length > 0) return;
    const { nearestName } = await import('command-kit/nearest');
    const near = nearestName(word, names);
    const known = near === undefined ? `The commands are ${names.join(', ')}.` : `Did you mean ${near}?`;
    const what = `error: unknown command '${word}' of ${group.name()}\n(${known})`;
    group.error(what, { code: 'commander.unknownCommand' });
  });
}
