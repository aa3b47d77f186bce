import { Command, Help } from 'commander';
import { nearestName } from '../core/nearest.ts';
import type { TextStreams } from './batch-files.ts';
import { auditCommand } from './commands/audit.ts';
import { batchesCommand } from './commands/batches.ts';
import { bundleCommand } from './commands/bundle.ts';
import { cancelDeleteCommands } from './commands/cancel-delete.ts';
import { clustersCommand } from './commands/clusters.ts';
import { completionCommand } from './commands/completion.ts';
import { configCommand } from './commands/config.ts';
import { diffCommand } from './commands/diff.ts';
import { doctorCommand } from './commands/doctor.ts';
import { experimentCommands } from './commands/experiments.ts';
import { fileCommands } from './commands/files.ts';
import { helpCommand } from './commands/help.ts';
import { keysCommand, whoamiCommand } from './commands/keys.ts';
import { metricsCommand } from './commands/metrics.ts';
import { planCommand } from './commands/plan.ts';
import { preflightCommand } from './commands/preflight.ts';
import { presetsCommand } from './commands/presets.ts';
import { projectsCommand } from './commands/projects.ts';
import { queueCommands } from './commands/queue.ts';
import { rayCommand } from './commands/ray.ts';
import { recipesCommand } from './commands/recipes.ts';
import { recordCommands } from './commands/records.ts';
import { retentionCommand } from './commands/retention.ts';
import { rulesCommand } from './commands/rules.ts';
import { roleCommands, serverCommands } from './commands/servers.ts';
import { sweepCommand } from './commands/sweeps.ts';
import { VERSION, versionCommand } from './commands/version.ts';
import { CONNECTION_GROUP } from './connection.ts';
import { wrappedHelp } from './help-text.ts';
import type { Output } from './output.ts';

const AFTER = `
A first look, on this machine alone:
  echelon demo                   everything once, in a few minutes
  echelon up                     start it and keep it running
  echelon submit FILE --watch    run an experiment and follow it
  echelon verify dump.json.gz    check the advantages of any HGPO, GiGPO or GRPO training

Each command has a --help with examples.
Exit status: 0 well, 1 something is not well, 2 wrong usage or unreadable input, 3 no answer from
the API, 4 refused by it.`;

/** Where help is not read on a terminal. */
const HELP_WIDTH = 80;

/** What `echelon --help` shows under which heading, from what a newcomer needs to what an operator needs. */
function groupsOf(output: Output, streams: TextStreams): [heading: string, commands: Command[]][] {
  const experiments = [
    ...experimentCommands(output),
    ...cancelDeleteCommands(output),
    ...recordCommands(output),
    diffCommand(output),
    metricsCommand(output),
    rulesCommand(output),
    batchesCommand(output),
    bundleCommand(output),
    sweepCommand(output),
    presetsCommand(output),
  ];
  const clusters = [
    ...queueCommands(output),
    preflightCommand(output),
    clustersCommand(output),
    rayCommand(output),
  ];
  const settings = [
    projectsCommand(output),
    keysCommand(output),
    whoamiCommand(output),
    auditCommand(output),
    retentionCommand(output),
    configCommand(output),
    completionCommand(output),
    versionCommand(output),
  ];
  return [
    ['Start here:', [...serverCommands(output), doctorCommand(output), helpCommand()]],
    ['Experiments:', experiments],
    ['Line and clusters:', clusters],
    ['Offline (no server):', [...fileCommands(streams), planCommand(output), recipesCommand(output)]],
    ['People and settings:', settings],
    ['Parts of a fleet:', roleCommands(output)],
  ];
}

/**
 * The whole command line. Nothing is read or done before it parses; it throws commander's errors, and what the commands
 * throw. `streams` is where commands on files write; `isSilent`: whoever calls says what was wrong.
 */
export function createProgram(
  output: Output,
  { streams = process, isSilent = false }: { streams?: TextStreams; isSilent?: boolean } = {},
): Command {
  const plain = new Help();
  const program = new Command('echelon')
    .description(
      'Control plane for HGPO experiments on a Ray cluster; recomputes every advantage batch and says whether it is right.',
    )
    .version(VERSION)
    .showSuggestionAfterError()
    .exitOverride()
    .showHelpAfterError('(--help shows what there is)')
    .configureOutput({
      outputError: (text, write) => write(text.replace(/^error: /, 'echelon: ')),
      writeOut: (text) => void process.stdout.write(wrappedHelp(text, process.stdout.columns ?? HELP_WIDTH)),
      ...(isSilent && { writeErr: () => undefined }),
    })
    .configureHelp({
      // A column of words, however narrow, is read more easily than words that the terminal breaks.
      minWidthToWrap: 16,
      // Nearly all have options; a column that says so tells nothing.
      subcommandTerm: (command) => plain.subcommandTerm(command).replace(' [options]', ''),
      groupItems: (unsorted, visible, groupOf) =>
        connectionLast(plain.groupItems(unsorted, visible, groupOf)),
    })
    .addHelpText('after', AFTER);
  for (const [heading, commands] of groupsOf(output, streams)) {
    program.commandsGroup(heading);
    for (const command of commands) program.addCommand(command);
  }
  inherit(program);
  // Ours is among the commands; those within commands have the library's.
  return program.helpCommand(false);
}

/** What a command does of its own comes first. */
function connectionLast<T>(groups: Map<string, T[]>): Map<string, T[]> {
  const connection = groups.get(CONNECTION_GROUP);
  if (connection === undefined) return groups;
  groups.delete(CONNECTION_GROUP);
  return groups.set(CONNECTION_GROUP, connection);
}

function inherit(command: Command): void {
  for (const sub of command.commands) {
    sub.copyInheritedSettings(command);
    if (sub.commands.length > 0) refuseUnknown(sub.helpCommand(false));
    inherit(sub);
  }
}

/** Where a word is none of the commands in `group`, what does something alone would count its arguments instead. */
function refuseUnknown(group: Command): void {
  const names = group.commands.map((sub) => sub.name());
  const check = (at: Command): void => {
    const [word] = group.args;
    if (word === undefined || word.startsWith('-') || names.includes(word)) return;
    if (at.registeredArguments.length > 0) return;
    const near = nearestName(word, names);
    const known = near === undefined ? `There are ${names.join(', ')}.` : `Did you mean ${near}?`;
    const lists = /^(ls|list)$/.test(word) ? ` \`echelon ${group.name()}\` alone lists them.` : '';
    const what = `error: unknown command '${word}' of ${group.name()}\n(${known}${lists})`;
    group.error(what, { code: 'commander.unknownCommand' });
  };
  if (group.registeredArguments.length === 0) group.allowExcessArguments();
  group.hook('preSubcommand', (_group, sub) => check(sub));
  group.hook('preAction', (_group, action) => {
    if (action === group) check(group);
  });
}
