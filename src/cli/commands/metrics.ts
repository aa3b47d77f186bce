import { wholeNumber } from 'command-kit/arguments';
import { withoutControls } from 'command-kit/colors';
import { examples } from 'command-kit/examples';
import { CliError, EXIT } from 'command-kit/exit';
import { inert } from 'command-kit/inert';
import { nearestName } from 'command-kit/nearest';
import { json, type Output } from 'command-kit/output';
import { table } from 'command-kit/table';
import { type Command, Option } from 'commander';
import type { MetricChart } from 'echelon-client/calls';
import { metricsFinding } from 'echelon-client/metrics-finding';
import type { MetricValue } from '../../core/events.ts';
import { isFinal } from '../../core/states.ts';
import type { Client } from '../client.ts';
import { type ApiOptions, apiCommand, clientFor } from '../connection.ts';
import { experimentNamed, NAME_FORMS } from '../names.ts';

interface Options extends ApiOptions {
  points?: boolean;
  from?: number;
  to?: number;
  resolution?: number;
}

/** `echelon metrics`: the metrics of an experiment. */
function metricsCommand(output: Output): Command {
  return apiCommand('metrics')
    .description(
      'List the metrics of an experiment with their last values. With names, show these metrics over the steps.',
    )
    .argument('<id>', `experiment: ${NAME_FORMS}`)
    .argument('[names...]', 'metrics to show; a * at the end matches the rest of a name')
    .option('--from <step>', 'first step', wholeNumber(0, 1e10))
    .option('--to <step>', 'last step', wholeNumber(0, 1e10))
    .option('--resolution <points>', 'maximum number of points per metric', wholeNumber(1, 2000), 20)
    .addOption(
      new Option('--points', 'print every recorded value at full precision, as tab-separated text').conflicts(
        'json',
      ),
    )
    .addHelpText('after', examples("echelon metrics exp-00cz8h3k7n2q4r5s6t7v 'actor/*' --resolution 10"))
    .action(async (name: string, names: string[], options: Options) => {
      const client = await clientFor(options);
      const id = await experimentNamed(client, name);
      if (options.points) return await printPoints({ client, id, names, output });
      if (names.length === 0) return await printNames({ client, id, output, asJson: options.json ?? false });
      const { from, to, resolution } = options;
      const query = { names, from, to, resolution };
      const chart = await client.get('/v1/experiments/{id}/metrics', { path: { id }, query });
      const missing = missingOf(chart.series, names);
      if (missing.length === names.length)
        throw new CliError(EXIT.notOk, await unknownMetrics(client, id, missing));
      if (missing.length > 0) output.remark(await unknownMetrics(client, id, missing));
      if (options.json) return output.line(json(chart));
      output.line(chart.series.map((one) => seriesTable(one, output.columns)).join('\n\n'));
    });
}

/** The names, and starts of names, that no metric has. */
function missingOf(found: readonly { name: string }[], names: readonly string[]): string[] {
  const fits = (wanted: string, name: string): boolean =>
    name === wanted || (wanted.endsWith('*') && name.startsWith(wanted.slice(0, -1)));
  return names.filter((wanted) => !found.some(({ name }) => fits(wanted, name)));
}

/** The message for names without a metric, with the name that was probably meant. */
async function unknownMetrics(client: Client, id: string, names: string[]): Promise<string> {
  const { items } = await client.get('/v1/experiments/{id}/metrics/names', { path: { id } });
  const near = nearestName(
    names[0]!,
    items.map(({ name }) => name),
  );
  const hint = near === undefined ? `List them with \`echelon metrics ${id}\`.` : `Did you mean ${near}?`;
  return inert(`Experiment ${id} has no metric ${names.join(', ')}. ${hint}`);
}

function seriesTable({ name, points }: MetricChart['series'][number], width: number | undefined): string {
  const hasNonFinite = points.some(({ nan, infinite }) => nan + infinite > 0);
  // A step that was trained again has the values of the later attempt.
  const isRestarted = points.some(({ attempt }) => attempt !== points[0]!.attempt);
  const rows = points.map(({ attempt, from, to, count, min, mean, max, last, nan, infinite, at }) => [
    ...(isRestarted ? [attempt] : []),
    from === to ? from : `${from}-${to}`,
    count,
    ...[mean, min, max].map((value) => (value === null ? '-' : short(value))),
    short(last),
    ...(hasNonFinite ? [nan + infinite] : []),
    at === null ? '-' : new Date(at).toISOString().replace('T', ' ').slice(0, 19),
  ]);
  const head = [
    ...(isRestarted ? ['ATTEMPT'] : []),
    'STEPS',
    'VALUES',
    'MEAN',
    'MIN',
    'MAX',
    'LAST',
    ...(hasNonFinite ? ['NOT FINITE'] : []),
    'UTC',
  ];
  return `${inert(name)}\n${table(head, rows, width)}`;
}

function short(value: MetricValue): string {
  return typeof value === 'number' ? Number(value.toPrecision(6)).toString() : value;
}

async function printNames(input: { client: Client; id: string; output: Output; asJson: boolean }) {
  const { client, id, output, asJson } = input;
  const names = await client.get('/v1/experiments/{id}/metrics/names', { path: { id } });
  if (asJson) return output.line(json(names));
  if (names.items.length === 0) return output.line(await withoutMetrics(client, id));
  output.line(
    table(
      ['METRIC', 'LAST'],
      names.items.map(({ name, last }) => [inert(name), short(last)]),
      output.columns,
    ),
  );
}

/** Says that there are none, and what the source of the metrics has seen if the log says so. */
async function withoutMetrics(client: Client, id: string): Promise<string> {
  const { state } = await client.get('/v1/experiments/{id}', { path: { id } });
  const found = await metricsFinding(client, id);
  const none = isFinal(state) ? 'The experiment recorded no metrics.' : 'No metrics yet.';
  return found === undefined ? none : `${none} ${withoutControls(found)}`;
}

async function printPoints(input: { client: Client; id: string; names: string[]; output: Output }) {
  const { client, id, names, output } = input;
  if (names.length > 0) {
    const { items } = await client.get('/v1/experiments/{id}/metrics/names', { path: { id } });
    const missing = missingOf(items, names);
    if (missing.length > 0) throw new CliError(EXIT.notOk, await unknownMetrics(client, id, missing));
  }
  output.line('metric\tattempt\tstep\tvalue\tat');
  let after: string | undefined;
  for (;;) {
    const query = { names: names.length > 0 ? names : undefined, after };
    const page = await client.get('/v1/experiments/{id}/metrics/points', { path: { id }, query });
    for (const { name, points } of page.series) {
      for (const { attempt, step, value, at } of points) {
        output.line(`${inert(name).replace(/[\t\n]/g, ' ')}\t${attempt}\t${step}\t${value}\t${at}`);
      }
    }
    if (!page.more || page.after === null) return;
    after = page.after;
  }
}

/** The commands of this module by their names. */
export const commands = { metrics: metricsCommand };
