import { Command, Option } from 'commander';
import type { MetricValue } from '../../core/events.ts';
import { nearestName } from '../../core/nearest.ts';
import type { MetricChart, MetricNames, MetricPoints } from '../../schemas/streams.ts';
import { wholeNumber } from '../arguments.ts';
import type { Client } from '../client.ts';
import { type ConnectionOptions, clientFor, withConnection } from '../connection.ts';
import { CliError, EXIT } from '../exit.ts';
import { experimentNamed, NAMES_IT } from '../names.ts';
import { inert, json, type Output, table } from '../output.ts';

interface Options extends ConnectionOptions {
  json?: boolean;
  points?: boolean;
  from?: number;
  to?: number;
  resolution?: number;
}

/** `echelon metrics`: what an experiment measured. */
export function metricsCommand(output: Output): Command {
  return withConnection(new Command('metrics'))
    .summary('list the metrics of an experiment, or show some over its steps')
    .description('list the metrics of an experiment, or show some of them over its steps')
    .argument('<id>', NAMES_IT)
    .argument('[names...]', 'these metrics; a * at the end stands for the rest of a name')
    .option('--from <step>', 'only from this step on', wholeNumber(0, 1e10))
    .option('--to <step>', 'only up to this step', wholeNumber(0, 1e10))
    .option('--resolution <points>', 'so many points of each at most', wholeNumber(1, 2000), 20)
    .addOption(
      new Option('--points', 'every recorded value at full precision, as tab-separated text').conflicts(
        'json',
      ),
    )
    .option('--json', 'print JSON, for scripts')
    .addHelpText('after', "\nExample:\n  echelon metrics exp-00cz8h3k7n2q4r5s6t7v 'actor/*' --resolution 10")
    .action(async (name: string, names: string[], options: Options) => {
      const client = await clientFor(options);
      const id = await experimentNamed(client, name);
      const path = `/v1/experiments/${encodeURIComponent(id)}/metrics`;
      if (options.points) return await printPoints({ client, path, names, output });
      if (names.length === 0)
        return await printNames({ client, path, output, asJson: options.json ?? false });
      const { from, to, resolution } = options;
      const query = { names: names.join(','), from, to, resolution };
      const chart = await client.get<MetricChart>(path, query);
      if (options.json) return output.line(json(chart));
      if (chart.series.length === 0)
        throw new CliError(EXIT.notOk, await noSuch({ client, path, names, id }));
      output.line(chart.series.map(seriesTable).join('\n\n'));
    });
}

/** Why nothing is shown, with the name that was probably meant. */
async function noSuch(input: { client: Client; path: string; names: string[]; id: string }): Promise<string> {
  const { client, path, names, id } = input;
  const { items } = await client.get<MetricNames>(`${path}/names`);
  const near = nearestName(
    names[0]!,
    items.map(({ name }) => name),
  );
  const hint = near === undefined ? `\`echelon metrics ${id}\` lists them` : `did you mean ${near}?`;
  return inert(`It has no metrics of that name; ${hint}`);
}

function seriesTable({ name, points }: MetricChart['series'][number]): string {
  const strange = points.some(({ nan, infinite }) => nan + infinite > 0);
  const rows = points.map(({ from, to, count, min, mean, max, last, nan, infinite }) => [
    from === to ? from : `${from}-${to}`,
    count,
    ...[mean, min, max].map((value) => (value === null ? '-' : short(value))),
    short(last),
    ...(strange ? [nan + infinite] : []),
  ]);
  const head = ['STEPS', 'VALUES', 'MEAN', 'MIN', 'MAX', 'LAST', ...(strange ? ['NOT FINITE'] : [])];
  return `${inert(name)}\n${table(head, rows)}`;
}

function short(value: MetricValue): string {
  return typeof value === 'number' ? Number(value.toPrecision(6)).toString() : value;
}

async function printNames(input: { client: Client; path: string; output: Output; asJson: boolean }) {
  const { client, path, output, asJson } = input;
  const names = await client.get<MetricNames>(`${path}/names`);
  if (asJson) return output.line(json(names));
  if (names.items.length === 0) return output.line('No metrics yet.');
  output.line(
    table(
      ['METRIC', 'LAST'],
      names.items.map(({ name, last }) => [inert(name), short(last)]),
    ),
  );
}

async function printPoints(input: { client: Client; path: string; names: string[]; output: Output }) {
  const { client, path, names, output } = input;
  output.line('metric\tattempt\tstep\tvalue');
  let after: string | undefined;
  for (;;) {
    const query = { names: names.join(',') || undefined, after };
    const page = await client.get<MetricPoints>(`${path}/points`, query);
    for (const { name, points } of page.series) {
      for (const { attempt, step, value } of points) {
        output.line(`${inert(name).replace(/[\t\n]/g, ' ')}\t${attempt}\t${step}\t${value}`);
      }
    }
    if (!page.more || page.after === null) return;
    after = page.after;
  }
}
