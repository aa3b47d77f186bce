import { writeFile } from 'node:fs/promises';
import type { Command } from 'commander';
import { wholeNumber } from 'echelon-verify/cli/arguments';
import { examples } from 'echelon-verify/cli/examples';
import { CliError, EXIT } from 'echelon-verify/cli/exit';
import { json, type Output } from 'echelon-verify/cli/output';
import { apiCommand, type ConnectionOptions, clientFor } from '../connection.ts';
import { experimentNamed, NAME_FORMS } from '../names.ts';

type Options = ConnectionOptions & { json?: boolean; output?: string };

/** `echelon bundle ID ATTEMPT BATCH`: a recorded batch as a file that can be verified without a server. */
export function bundleCommand(output: Output): Command {
  return apiCommand('bundle')
    .description(
      'Write a recorded batch to a file (echelon-batch/1: JSON in gzip). `echelon verify` checks the file on any machine, without a server. The member `bundle` of the file names the experiment and the report.',
    )
    .argument('<id>', `experiment: ${NAME_FORMS}`)
    .argument('<attempt>', 'number of the attempt, from 1', wholeNumber(1, 1e9))
    .argument('<batch>', 'number of the batch in the attempt, from 1', wholeNumber(1, 1e9))
    .option('-o, --output <file>', 'file to write (default: <id>-<attempt>-<batch>.json.gz)')
    .addHelpText(
      'after',
      examples(
        'echelon bundle exp-00cz8h3k7n2q4r5s6t7v 1 12 -o batch.json.gz',
        'echelon verify batch.json.gz',
        'echelon compare batch.json.gz --estimators hgpo,gigpo,grpo',
      ),
    )
    .action(async (name: string, attempt: number, batch: number, options: Options) => {
      const client = await clientFor(options);
      const id = await experimentNamed(client, name);
      const response = await client.open('/v1/experiments/{id}/batches/{attempt}/{batch}/bundle', {
        path: { id, attempt, batch },
      });
      const bytes = new Uint8Array(await response.arrayBuffer());
      const file = options.output ?? `${id.replace(/[^a-z0-9-]/gi, '')}-${attempt}-${batch}.json.gz`;
      await writeFile(file, bytes).catch((error: Error) => {
        throw new CliError(EXIT.usage, `Cannot write ${file}: ${error.message}`);
      });
      output.line(options.json ? json({ file, bytes: bytes.length }) : file);
      if (!options.json) output.remark(`${bytes.length} bytes. Check it with \`echelon verify ${file}\`.`);
    });
}
