#!/usr/bin/env node
import { readFileSync } from 'node:fs';
import { Command, CommanderError } from 'commander';
import { EchelonError } from '../core/errors.ts';
import { auditCommand } from './commands/audit.ts';
import { bundleCommand } from './commands/bundle.ts';
import { clustersCommand } from './commands/clusters.ts';
import { configCommand } from './commands/config.ts';
import { doctorCommand } from './commands/doctor.ts';
import { experimentCommands } from './commands/experiments.ts';
import { fileCommands } from './commands/files.ts';
import { keysCommand } from './commands/keys.ts';
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
import { serverCommands } from './commands/servers.ts';
import { sweepCommand } from './commands/sweeps.ts';
import { CliError, EXIT } from './exit.ts';
import { terminal } from './output.ts';

const { version } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8')) as {
  version: string;
};

const program = new Command('echelon')
  .description(
    'Control plane for HGPO experiments on a Ray cluster; recomputes every advantage batch and says whether it is right.',
  )
  .version(version)
  .showSuggestionAfterError()
  .exitOverride()
  .showHelpAfterError('(--help shows what there is)')
  .configureHelp({ sortSubcommands: false })
  .addHelpText(
    'after',
    `
A first look, on this machine alone:
  echelon demo                     everything once, in a few minutes
  echelon up                       start it and keep it running
  echelon submit FILE --watch      run an experiment and follow it
  echelon verify dump.json.gz      check the advantages of any HGPO, GiGPO or GRPO training

Exit status: 0 well, 1 something is not well, 2 wrong usage or unreadable input, 3 no answer from the API, 4 refused by it.`,
  );

const commands = [
  ...serverCommands(terminal),
  ...experimentCommands(terminal),
  ...recordCommands(terminal),
  metricsCommand(terminal),
  ...queueCommands(terminal),
  sweepCommand(terminal),
  ...fileCommands(process),
  bundleCommand(terminal),
  rulesCommand(terminal),
  planCommand(terminal),
  preflightCommand(terminal),
  recipesCommand(terminal),
  presetsCommand(terminal),
  clustersCommand(terminal),
  projectsCommand(terminal),
  keysCommand(terminal),
  auditCommand(terminal),
  rayCommand(terminal),
  retentionCommand(terminal),
  configCommand(terminal),
  doctorCommand(terminal),
];
for (const command of commands) program.addCommand(command);
for (const command of commands.flatMap((one) => [one, ...one.commands]))
  command.copyInheritedSettings(program);

// Whoever reads may have seen enough (`| head`): that is no fault.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code !== 'EPIPE') throw error;
  process.exit();
});

try {
  await program.parseAsync();
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
