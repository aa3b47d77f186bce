import { Command, Option } from 'commander';
import pc from 'picocolors';
import type { BatchDetail, BatchPage, BatchView } from '../../schemas/records.ts';
import type { RowExplanation } from '../../verify/explain/explain.ts';
import { formatExplanation } from '../../verify/explain/explain-text.ts';
import type { BatchReport } from '../../verify/report.ts';
import { wholeNumber } from '../arguments.ts';
import type { Client } from '../client.ts';
import { type ConnectionOptions, clientFor, withConnection } from '../connection.ts';
import { CliError, EXIT } from '../exit.ts';
import { experimentNamed, NAMES_IT } from '../names.ts';
import { inert, json, type Output } from '../output.ts';
import { fittedTable, widthFor, withWide } from '../table.ts';
import { findingLine, resultText } from '../verify-files.ts';

interface Options extends ConnectionOptions {
  json?: boolean;
  notOk?: boolean;
  limit: number;
  row?: number;
  output?: string;
}

const NUMBER = wholeNumber(1, 1e9);

/** `echelon batches`: what was found of the recorded batches, of one of them, or of a row. */
export function batchesCommand(output: Output): Command {
  return withWide(withConnection(new Command('batches')))
    .summary('show what was found of each batch, of one of them, or of a row')
    .description(
      'list the recorded batches of an experiment with what was found of each; with attempt and batch: the findings and the wrong rows of that one; with --row: how the advantage of that row comes about',
    )
    .argument('<id>', `the experiment: ${NAMES_IT}`)
    .argument('[attempt]', 'number of the attempt, from 1', NUMBER)
    .argument('[batch]', 'number of the batch in it, from 1', NUMBER)
    .addOption(new Option('--row <number>', 'explain this row, from 0').argParser(wholeNumber(0, 1e9)))
    .option('--not-ok', 'list only those in which something is wrong')
    .option('-n, --limit <count>', 'list at most so many', wholeNumber(1, 100_000), 50)
    .option('--json', 'print JSON, for scripts')
    .addHelpText(
      'after',
      `
Examples:
  echelon batches exp-00cz8h3k7n2q4r5s6t7v --not-ok
  echelon batches exp-00cz8h3k7n2q4r5s6t7v 1 12
  echelon batches exp-00cz8h3k7n2q4r5s6t7v 1 12 --row 40
\`echelon bundle\` writes one to a file, for \`echelon verify\`, \`estimate\` and \`compare\`.`,
    )
    .action(
      async (name: string, attempt: number | undefined, batch: number | undefined, options: Options) => {
        if (attempt !== undefined && batch === undefined)
          throw new CliError(EXIT.usage, 'Name attempt and batch, as in `echelon batches ID 1 12`.');
        const { row } = options;
        if (row !== undefined && batch === undefined)
          throw new CliError(EXIT.usage, '--row goes with attempt and batch.');
        const client = await clientFor(options);
        const id = await experimentNamed(client, name);
        const path = `/v1/experiments/${encodeURIComponent(id)}`;
        if (attempt === undefined || batch === undefined)
          return await list({ client, path, options, output });
        const answer =
          row === undefined
            ? await reportOf(client, `${path}/batches/${attempt}/${batch}`)
            : await explanationOf(client, `${path}/explain`, { attempt, batch, row });
        output.line(options.json ? json(answer.json) : answer.text.trimEnd());
        if (row === undefined && !options.json && answer.wrongRow !== undefined)
          output.remark(
            `\`echelon batches ${inert(id)} ${attempt} ${batch} --row ${answer.wrongRow}\` explains one of them.`,
          );
      },
    );
}

async function list(input: { client: Client; path: string; options: Options; output: Output }) {
  const { client, path, options, output } = input;
  const { items, more } = await read(client, `${path}/batches`, options);
  if (options.json) return output.line(json({ items, more }));
  if (items.length === 0)
    return output.line(options.notOk ? 'In no batch is anything wrong.' : 'No batch was recorded yet.');
  const rows = items.map(({ attempt, batch, step, rows, verification: found }) => [
    ...[attempt, batch, step, rows],
    ...(found === null
      ? ['-', '-', '-', '-', 'to come']
      : [found.exact, found.rounding, found.wrong, found.unverifiable, inShort(found)]),
  ]);
  const columns = [
    { title: 'ATTEMPT' },
    { title: 'BATCH' },
    { title: 'STEP' },
    { title: 'ROWS', drop: 1 },
    { title: 'EXACT', drop: 2 },
    { title: 'ROUNDING', drop: 3 },
    { title: 'WRONG' },
    { title: 'UNVERIFIABLE' },
    { title: 'FOUND' },
  ];
  output.line(fittedTable(columns, rows, widthFor(output, options)));
  if (more) output.remark('There are more; --limit shows them.');
}

function inShort({ ok, findings }: NonNullable<BatchView['verification']>): string {
  const codes = findings.map(inert).join(', ');
  if (ok) return `${pc.green('ok')}${codes && `, with ${codes}`}`;
  return `${pc.red('NOT OK')}${codes && `: ${codes}`}`;
}

async function read(client: Client, path: string, { limit, notOk }: Options) {
  const items: BatchView[] = [];
  let cursor: string | undefined;
  for (;;) {
    const page = await client.get<BatchPage>(path, { limit: 200, cursor });
    items.push(...page.items.filter(({ verification }) => !notOk || verification?.ok === false));
    if (items.length > limit || page.next === null)
      return { items: items.slice(0, limit), more: items.length > limit };
    cursor = page.next;
  }
}

/** What is printed, as JSON and for people, and a row that is worth an explanation. */
interface Answer {
  json: unknown;
  text: string;
  wrongRow?: number | undefined;
}

async function reportOf(client: Client, path: string): Promise<Answer> {
  const detail = await client.get<BatchDetail>(path);
  const report = detail.report as BatchReport | null;
  const head = `batch ${detail.batch} of attempt ${detail.attempt}, step ${detail.step}: ${detail.rows} rows`;
  if (report === null) return { json: detail, text: `${head}; its report is still to come` };
  const { exact, rounding, wrong, unverifiable, findings, wrongRows } = report;
  const lines = [
    `${head}; ${exact} exact, ${rounding} rounding, ${wrong} wrong, ${unverifiable} unverifiable: ${resultText(report)}`,
    `  ${inert(report.fingerprint)}`,
    ...findings.map(findingLine),
    ...(wrong > 0 ? [`  wrong rows: ${firstOf(wrongRows, wrong)}`] : []),
  ];
  return { json: detail, text: lines.join('\n'), wrongRow: wrongRows[0] };
}

const SHOWN_ROWS = 20;

function firstOf(rows: readonly number[], count: number): string {
  const shown = rows.slice(0, SHOWN_ROWS);
  const rest = count - shown.length;
  return `${shown.join(', ')}${rest > 0 ? ` and ${rest} more` : ''}`;
}

async function explanationOf(
  client: Client,
  path: string,
  place: { attempt: number; batch: number; row: number },
): Promise<Answer> {
  const answer = await client.get<{ explanation: RowExplanation }>(path, place);
  return { json: answer, text: formatExplanation(answer.explanation) };
}
