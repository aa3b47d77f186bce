import type { Command } from 'commander';
import { examples } from 'echelon-verify/cli/examples';
import { json, type Output } from 'echelon-verify/cli/output';
import { plural } from 'echelon-verify/text/plural';
import { apiCommand, type ConnectionOptions, clientFor } from '../connection.ts';
import { experimentNamed, NAME_FORMS } from '../names.ts';

/** `echelon verify-again ID`. */
export function verifyAgainCommand(output: Output): Command {
  return apiCommand('verify-again')
    .description(
      'Verify the batches of an experiment again that could not be verified, for example after the archive answered wrongly for a while. Other reports stay.',
    )
    .argument('<id>', `experiment: ${NAME_FORMS}`)
    .addHelpText('after', examples('echelon verify-again exp-00cz8h3k7n2q4r5s6t7v'))
    .action(async (name: string, options: ConnectionOptions & { json?: boolean }) => {
      const client = await clientFor(options);
      const id = await experimentNamed(client, name);
      const answer = await client.post('/v1/experiments/{id}/verify-again', { path: { id } });
      const words = `${plural(answer.batches, 'batch', 'batches')} of ${id} will be verified again`;
      output.line(options.json ? json(answer) : words);
    });
}
