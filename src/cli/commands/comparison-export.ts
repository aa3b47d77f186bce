import { readFile, writeFile } from 'node:fs/promises';
import { examples } from 'command-kit/examples';
import { CliError, EXIT } from 'command-kit/exit';
import { inert } from 'command-kit/inert';
import type { Output } from 'command-kit/output';
import type { Command } from 'commander';
import { COMPARISON_ID, type ComparisonFile, curvesQuery } from 'echelon-client/comparison-file';
import { withJson } from 'echelon-verify/html/report';
import { type Client, readPages } from '../client.ts';
import { type ApiOptions, apiCommand, clientFor } from '../connection.ts';
import { NAME_FORMS, sweepNamed } from '../names.ts';

const PAGE = 20;

/** `echelon comparison export`: a comparison as one HTML page. */
export function exportCommand(output: Output): Command {
  return apiCommand('export')
    .description(
      'Write a comparison with its runs, its result and all games as one HTML page. The page needs no server and loads nothing. It saves the games as CSV.',
    )
    .argument('<id>', `comparison: ${NAME_FORMS}`)
    .argument('<file>', 'HTML file to write')
    .addHelpText('after', examples('echelon comparison export swp-00cz8h3k7n2q4r5s6t7v comparison.html'))
    .action(async (named: string, file: string, options: ApiOptions) => {
      const client = await clientFor(options);
      const id = await sweepNamed(client, named);
      const empty = await readFile(
        new URL(import.meta.resolve('echelon-dashboard/page/comparison.html')),
        'utf8',
      );
      const page = withJson(empty, COMPARISON_ID, await contentsOf(client, id));
      await writeFile(file, page).catch((error: Error) => {
        throw new CliError(EXIT.usage, `${file} cannot be written: ${error.message}`);
      });
      output.remark(`${inert(file)} is written`);
    });
}

async function contentsOf(client: Client, id: string): Promise<ComparisonFile> {
  const path = { id };
  const comparison = await client.get('/v1/comparisons/{id}', { path });
  const read = (query: object) => client.get('/v1/comparisons/{id}/games', { path, query });
  const { items } = await readPages(read, { maxPage: PAGE });
  const series = await client.get('/v1/sweeps/{id}/series', { path, query: curvesQuery(comparison.plan) });
  return { comparison, games: items, series };
}
