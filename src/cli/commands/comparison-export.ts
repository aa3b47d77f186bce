import { readFile, writeFile } from 'node:fs/promises';
import { examples } from 'command-kit/examples';
import { CliError, EXIT } from 'command-kit/exit';
import { inert } from 'command-kit/inert';
import type { Output } from 'command-kit/output';
import type { Command } from 'commander';
import { COMPARISON_ID, type ComparisonFile, curvesQuery } from 'echelon-client/comparison-file';
import { comparisonCsv } from 'echelon-client/csv';
import { withJson } from 'echelon-verify/html/report';
import { type Client, readPages } from '../client.ts';
import { type ApiOptions, apiCommand, clientFor } from '../connection.ts';
import { NAME_FORMS, sweepNamed } from '../names.ts';

const PAGE = 20;

/** `echelon comparison export`: a comparison as one HTML page. */
export function exportCommand(output: Output): Command {
  return apiCommand('export')
    .description(
      'Write a comparison to a file. FILE.html is one page with its runs, its result and all games, which needs no server and loads nothing. FILE.csv has every game of every run: `echelon comparison judge` recomputes the result from it.',
    )
    .argument('<id>', `comparison: ${NAME_FORMS}`)
    .argument('<file>', 'file to write; a name that ends in .csv gets the games')
    .addHelpText(
      'after',
      examples(
        'echelon comparison export swp-00cz8h3k7n2q4r5s6t7v comparison.html',
        'echelon comparison export swp-00cz8h3k7n2q4r5s6t7v games.csv',
      ),
    )
    .action(async (named: string, file: string, options: ApiOptions) => {
      const client = await clientFor(options);
      const id = await sweepNamed(client, named);
      const content = file.endsWith('.csv')
        ? `${comparisonCsv(await gamesOf(client, id))}\n`
        : await pageOf(client, id);
      await writeFile(file, content).catch((error: Error) => {
        throw new CliError(EXIT.usage, `${file} cannot be written: ${error.message}`);
      });
      output.remark(`${inert(file)} is written`);
    });
}

async function pageOf(client: Client, id: string): Promise<string> {
  const empty = await readFile(
    new URL(import.meta.resolve('echelon-dashboard/page/comparison.html')),
    'utf8',
  );
  return withJson(empty, COMPARISON_ID, await contentsOf(client, id));
}

async function gamesOf(client: Client, id: string): Promise<ComparisonFile['games']> {
  const read = (query: object) => client.get('/v1/comparisons/{id}/games', { path: { id }, query });
  return (await readPages(read, { maxPage: PAGE })).items;
}

async function contentsOf(client: Client, id: string): Promise<ComparisonFile> {
  const path = { id };
  const comparison = await client.get('/v1/comparisons/{id}', { path });
  const series = await client.get('/v1/sweeps/{id}/series', { path, query: curvesQuery(comparison.plan) });
  return { comparison, games: await gamesOf(client, id), series };
}
