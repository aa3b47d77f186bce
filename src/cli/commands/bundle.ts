import { writeFile } from 'node:fs/promises';
import { Command } from 'commander';
import { wholeNumber } from '../arguments.ts';
import { type ConnectionOptions, clientFor, withConnection } from '../connection.ts';
import { CliError, EXIT } from '../exit.ts';
import { experimentNamed, NAMES_IT } from '../names.ts';
import { json, type Output } from '../output.ts';

type Options = ConnectionOptions & { json?: boolean; output?: string };

/** `echelon bundle ID ATTEMPT BATCH`: a recorded batch as a file that can be verified anywhere. */
export function bundleCommand(output: Output): Command {
  return withConnection(new Command('bundle'))
    .summary('write a recorded batch to a file that can be verified anywhere')
    .description('write a recorded batch to a file that `echelon verify` checks anywhere, without a server')
    .argument('<id>', `the experiment: ${NAMES_IT}`)
    .argument('<attempt>', 'number of the attempt, from 1', wholeNumber(1, 1e9))
    .argument('<batch>', 'number of the batch in it, from 1', wholeNumber(1, 1e9))
    .option('-o, --output <file>', 'where to write it; <id>-<attempt>-<batch>.json.gz where it is left out')
    .option('--json', 'print JSON, for scripts')
    .addHelpText(
      'after',
      `
The file is echelon-batch/1 as JSON in gzip; under \`bundle\` it says where the batch is from, and what was found.
Example:
  echelon bundle exp-00cz8h3k7n2q4r5s6t7v 1 12 -o batch.json.gz
  echelon verify batch.json.gz                       # the same report, on any machine
  echelon compare batch.json.gz --estimators hgpo,gigpo,grpo`,
    )
    .action(async (name: string, attempt: number, batch: number, options: Options) => {
      const client = await clientFor(options);
      const id = await experimentNamed(client, name);
      const path = `/v1/experiments/${encodeURIComponent(id)}/batches/${attempt}/${batch}/bundle`;
      const bytes = await client.download(path);
      const file = options.output ?? `${id.replace(/[^a-z0-9-]/gi, '')}-${attempt}-${batch}.json.gz`;
      await writeFile(file, bytes).catch((error: Error) => {
        throw new CliError(EXIT.usage, `${file} cannot be written: ${error.message}`);
      });
      output.line(options.json ? json({ file, bytes: bytes.length }) : file);
      if (!options.json) output.remark(`${bytes.length} bytes; \`echelon verify ${file}\` checks it.`);
    });
}
