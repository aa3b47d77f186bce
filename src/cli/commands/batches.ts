import { writeFile } from 'node:fs/promises';
import { styleText } from 'node:util';
import { wholeNumber } from 'command-kit/arguments';
import { examples } from 'command-kit/examples';
import { CliError, EXIT } from 'command-kit/exit';
import { inert } from 'command-kit/inert';
import { json, type Output } from 'command-kit/output';
import { fittedTable } from 'command-kit/table';
import { shortened, wrapped } from 'command-kit/width';
import { type Command, Option } from 'commander';
import type { Batch } from 'echelon-client/calls';
import { findingLine, resultText, signalText, stepLines } from 'echelon-verify/cli';
import type { RowExplanation, TokenExplanation } from 'echelon-verify/explain';
import { formatExplanation, formatToken } from 'echelon-verify/explain';
import type { BatchReport } from 'echelon-verify/report';
import type { RecordedStepReport } from 'echelon-verify/verify';
import { type Client, MAX_PAGE } from '../client.ts';
import { type ApiOptions, apiCommand, clientFor } from '../connection.ts';
import { experimentNamed, NAME_FORMS } from '../names.ts';

interface Options extends ApiOptions {
  notOk?: boolean;
  limit: number;
  row?: number;
  position?: number;
  rows?: boolean;
  trajectory?: string;
  sameStateAs?: number;
  output?: string;
  save?: string;
}

const NUMBER = wholeNumber(1, 1e9);

function batches(output: Output): Command {
  return withBatchOptions(apiCommand('batches'))
    .description(
      'List the recorded batches of an experiment with their reports. With an attempt and a batch, show the findings and the wrong rows of that batch. With --rows, list its rows with reported and true advantages. With --row, show how the advantage of that row is computed; of an optimizer step, the chain of a token from its log-prob to its gradient.',
    )
    .argument('<id>', `experiment: ${NAME_FORMS}`)
    .argument('[attempt]', 'number of the attempt, from 1', NUMBER)
    .argument('[batch]', 'number of the batch in the attempt, from 1', NUMBER)
    .option('--not-ok', 'only batches that are not ok')
    .option('-n, --limit <count>', 'maximum number of batches or rows', wholeNumber(1, 100_000), 50)
    .option(
      '--save <file>',
      'write the batch to this file (echelon-batch/1: JSON in gzip), which `echelon verify` checks without a server',
    )
    .addHelpText(
      'after',
      examples(
        'echelon batches exp-00cz8h3k7n2q4r5s6t7v --not-ok',
        'echelon batches exp-00cz8h3k7n2q4r5s6t7v 1 12',
        'echelon batches exp-00cz8h3k7n2q4r5s6t7v 1 12 --row 40',
        'echelon batches exp-00cz8h3k7n2q4r5s6t7v 1 13 --row 4 --position 7',
        'echelon batches exp-00cz8h3k7n2q4r5s6t7v 1 12 --same-state-as 40',
        'echelon batches exp-00cz8h3k7n2q4r5s6t7v 1 12 --save batch.json.gz',
      ),
    )
    .action(
      async (name: string, attempt: number | undefined, batch: number | undefined, options: Options) => {
        requireBatch(attempt, batch, options);
        const client = await clientFor(options);
        const id = await experimentNamed(client, name);
        if (attempt === undefined || batch === undefined) return await list({ client, id, options, output });
        const { save: file } = options;
        if (file !== undefined)
          return await save(client, { id, attempt, batch }, { ...options, save: file }, output);
        await show({ client, id, attempt, batch, options, output });
      },
    );
}

/** The options that look at one batch. */
function withBatchOptions(command: Command): Command {
  return command
    .addOption(new Option('--row <number>', 'explain this row, from 0').argParser(wholeNumber(0, 1e9)))
    .addOption(
      new Option(
        '--position <number>',
        'position of the token in the row of an optimizer step, from 0 (default: the first wrong one)',
      ).argParser(wholeNumber(0, 1e9)),
    )
    .option('--rows', 'list the rows of the batch, up to --limit')
    .option('--trajectory <name>', 'list the rows of this trajectory')
    .addOption(
      new Option(
        '--same-state-as <row>',
        'list the rows of the same group with the same observation as this row',
      ).argParser(wholeNumber(0, 1e9)),
    );
}

const ONE_BATCH = {
  row: '--row 40',
  position: '--row 40 --position 7',
  rows: '--rows',
  trajectory: '--trajectory NAME',
  sameStateAs: '--same-state-as 40',
  save: '--save batch.json.gz',
} as const;

/** Refuses what names a batch in part, and options of one batch without it. */
function requireBatch(attempt: number | undefined, batch: number | undefined, options: Options): void {
  if (options.position !== undefined && options.row === undefined)
    throw new CliError(
      EXIT.usage,
      '--position needs --row, as in `echelon batches ID 1 12 --row 4 --position 7`.',
    );
  if (batch !== undefined) return;
  if (attempt !== undefined)
    throw new CliError(
      EXIT.usage,
      'The number of the batch is missing. Give both, as in `echelon batches ID 1 12`.',
    );
  for (const [name, example] of Object.entries(ONE_BATCH)) {
    if (options[name as keyof typeof ONE_BATCH] === undefined) continue;
    throw new CliError(
      EXIT.usage,
      `${example.split(' ')[0]} needs an attempt and a batch, as in \`echelon batches ID 1 12 ${example}\`.`,
    );
  }
}

async function list(input: { client: Client; id: string; options: Options; output: Output }) {
  const { client, id, options, output } = input;
  const { items, more } = await read(client, id, options);
  if (options.json) return output.line(json({ items, more }));
  if (items.length === 0)
    return output.line(options.notOk ? 'Every batch is ok.' : 'No batch was recorded yet.');
  const hasSteps = items.some(({ verification }) => verification?.kind === 'step');
  const rows = items.map(({ attempt, batch, step, rows, verification }) => [
    attempt,
    batch,
    step,
    ...(hasSteps ? [verification?.kind ?? '-'] : []),
    rows,
    ...(verification === null
      ? ['-', '-', '-', '-', 'pending']
      : [
          verification.exact,
          verification.rounding,
          verification.wrong,
          verification.unverifiable,
          summary(verification),
        ]),
  ]);
  const columns = [
    { title: 'ATTEMPT' },
    { title: 'BATCH' },
    { title: 'STEP' },
    ...(hasSteps ? [{ title: 'KIND' }] : []),
    { title: 'ROWS', drop: 1 },
    { title: 'EXACT', drop: 2 },
    { title: 'ROUNDING', drop: 3 },
    { title: 'WRONG' },
    { title: 'UNVERIFIABLE' },
    { title: 'REPORT' },
  ];
  output.line(fittedTable(columns, rows, output.columns));
  if (more) output.remark('There are more batches; --limit shows them.');
}

function summary({ ok, findings }: NonNullable<Batch['verification']>): string {
  const codes = findings.map(inert).join(', ');
  if (ok) return `${styleText('green', 'ok')}${codes && `, with ${codes}`}`;
  return `${styleText('red', 'NOT OK')}${codes && `: ${codes}`}`;
}

async function read(client: Client, id: string, { limit, notOk }: Options) {
  const items: Batch[] = [];
  let cursor: string | undefined;
  for (;;) {
    const query = { limit: MAX_PAGE, cursor };
    const page = await client.get('/v1/experiments/{id}/batches', { path: { id }, query });
    items.push(...page.items.filter(({ verification }) => !notOk || verification?.ok === false));
    if (items.length > limit || page.next === null)
      return { items: items.slice(0, limit), more: items.length > limit };
    cursor = page.next;
  }
}

async function show(input: {
  client: Client;
  id: string;
  attempt: number;
  batch: number;
  options: Options;
  output: Output;
}): Promise<void> {
  const { client, id, attempt, batch, options, output } = input;
  const { row, position, json: asJson } = options;
  if (row !== undefined) {
    const query = { attempt, batch, row, position };
    const answer = await client.get('/v1/experiments/{id}/explain', { path: { id }, query });
    return output.line(asJson ? json(answer) : wrapped(explanationText(answer.explanation), output.columns));
  }
  const path = { id, attempt, batch };
  if (options.rows || options.trajectory !== undefined || options.sameStateAs !== undefined)
    return await showRows(client, path, options, output);
  const detail = await client.get('/v1/experiments/{id}/batches/{attempt}/{batch}', { path });
  if (asJson) return output.line(json(detail));
  const head = `batch ${batch} of attempt ${attempt}, step ${detail.step}: ${detail.rows} rows`;
  const report = detail.report as BatchReport | RecordedStepReport | null;
  if (report === null) return output.line(`${head}; its report is pending`);
  const { columns } = output;
  output.line(wrapped(reportLines(head, report).join('\n'), columns));
  if ('step' in report) output.line(wrapped(stepLines(report.step, columns).join('\n').trimEnd(), columns));
  const [wrongRow] = report.wrongRows;
  if (wrongRow !== undefined)
    output.remark(
      `Explain a wrong row with \`echelon batches ${inert(id)} ${attempt} ${batch} --row ${wrongRow}\`.`,
    );
}

/** The explanation of a row, or of a token. */
export function explanationText(explanation: object): string {
  const text =
    'lines' in explanation
      ? formatToken(explanation as TokenExplanation)
      : formatExplanation(explanation as RowExplanation);
  return text.trimEnd();
}

async function showRows(
  client: Client,
  path: { id: string; attempt: number; batch: number },
  options: Options,
  output: Output,
): Promise<void> {
  const { trajectory, sameStateAs, limit } = options;
  const query = { count: limit, trajectory, sameStateAs };
  const columns = await client.get('/v1/experiments/{id}/batches/{attempt}/{batch}/rows', { path, query });
  if (options.json) return output.line(json(columns));
  const value = (x: number | null | undefined) => (x ?? '-').toString();
  const rows = columns.row.map((row, at) => [
    row,
    columns.groups[columns.group[at]!]!,
    columns.trajectories[columns.trajectory[at]!]!,
    columns.step[at]!,
    ...(columns.actions === null ? [] : [shortened(inert(columns.actions[columns.action![at]!]!), 60)]),
    value(columns.stepReturn[at]),
    value(columns.reported[at]),
    value(columns.true[at]),
    columns.outcome[at]!,
  ]);
  const titles = [
    { title: 'ROW' },
    { title: 'GROUP', drop: 2 },
    { title: 'TRAJECTORY', drop: 3 },
    { title: 'STEP', drop: 1 },
    ...(columns.actions === null ? [] : [{ title: 'ACTION', minWidth: 16 }]),
    { title: 'RETURN', drop: 4 },
    { title: 'REPORTED' },
    { title: 'TRUE' },
    { title: 'OUTCOME' },
  ];
  output.line(fittedTable(titles, rows, output.columns));
  const rest = columns.matching - columns.row.length;
  if (rest > 0) output.remark(`${columns.matching} rows match; --limit shows more.`);
}

function reportLines(head: string, report: BatchReport): string[] {
  const { exact, rounding, wrong, unverifiable, findings, wrongRows, diagnosis } = report;
  return [
    `${head}; ${exact} exact, ${rounding} rounding, ${wrong} wrong, ${unverifiable} unverifiable: ${resultText(report)}`,
    `  ${inert(report.fingerprint)}`,
    ...findings.map(findingLine),
    ...(wrong > 0 ? [`  wrong rows: ${firstOf(wrongRows, wrong)}`] : []),
    ...(diagnosis?.signal ? [signalText(diagnosis.signal, undefined, diagnosis.partsDisagree)] : []),
  ];
}

const MAX_ROWS = 20;

function firstOf(rows: readonly number[], count: number): string {
  const shown = rows.slice(0, MAX_ROWS);
  const rest = count - shown.length;
  return `${shown.join(', ')}${rest > 0 ? ` and ${rest} more` : ''}`;
}

/** Writes a batch to a file that `echelon verify` checks without a server. */
async function save(
  client: Client,
  path: { id: string; attempt: number; batch: number },
  { save: file, json: asJson }: { save: string; json?: boolean },
  output: Output,
): Promise<void> {
  const response = await client.open('/v1/experiments/{id}/batches/{attempt}/{batch}/bundle', { path });
  const bytes = new Uint8Array(await response.arrayBuffer());
  await writeFile(file, bytes).catch((error: Error) => {
    throw new CliError(EXIT.usage, `Cannot write ${file}: ${error.message}`);
  });
  output.line(asJson ? json({ file, bytes: bytes.length }) : file);
  if (!asJson) output.remark(`${bytes.length} bytes. Check it with \`echelon verify ${file}\`.`);
}

/** The commands of this module by their names. */
export const commands = { batches };
