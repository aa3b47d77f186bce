import { existsSync } from 'node:fs';
import { CliError, EXIT } from 'command-kit/exit';
import { json, type Output } from 'command-kit/output';
import { plural } from 'command-kit/plural';
import type { Command } from 'commander';
import type { TextStreams } from 'echelon-verify/cli';
import { fileCommands, streamsFor, type VerifyFlags, verifyPaths } from 'echelon-verify/cli';
import { type ApiOptions, clientFor, withConnection } from '../connection.ts';
import { experimentNamed } from '../names.ts';

/** `echelon verify`: of files, or of the batches of an experiment that could not be verified. */
export function verifyCommand(streams: TextStreams, output: Output): Command {
  const command = fileCommands(streams).find((one) => one.name() === 'verify')!;
  command.registeredArguments[0]!.description =
    'files or folders; or one experiment: id, prefix of an id that begins with exp-, or @last';
  return withConnection(command)
    .description(
      "Verify every advantage of recorded batches, or of another trainer's dump. Of an experiment, verify the batches again that could not be verified, for example after the archive answered wrongly for a while; other reports stay.",
    )
    .addHelpText('after', '  echelon verify exp-00cz8h3k7n2q4r5s6t7v')
    .action(async (paths: string[], options: VerifyFlags & ApiOptions) => {
      const names = paths.filter(isExperiment);
      if (names.length === 0)
        return await verifyPaths(paths, options, streamsFor(streams, options), command.parent?.name());
      if (paths.length > 1) throw new CliError(EXIT.usage, 'Give files, or one experiment.');
      const client = await clientFor(options);
      const id = await experimentNamed(client, names[0]!);
      const answer = await client.post('/v1/experiments/{id}/verify-again', { path: { id } });
      const count = plural(answer.batches, 'batch', 'batches');
      output.line(options.json ? json(answer) : `${count} of ${id} will be verified again`);
    });
}

/** A file wins over an experiment of that name. */
const isExperiment = (path: string): boolean => /^(exp-|@last$)/.test(path) && !existsSync(path);
