import type { Command } from 'commander';
import { wholeNumber } from 'echelon-verify/cli/arguments';
import { examples } from 'echelon-verify/cli/examples';
import { json, type Output } from 'echelon-verify/cli/output';
import { shortened } from 'echelon-verify/cli/shortened';
import { fittedTable, widthFor, withWide } from 'echelon-verify/cli/table';
import { inert } from 'echelon-verify/text/inert';
import { valueInWords } from '../../plan/sweep-names.ts';
import type { SweepSeries } from '../../schemas/sweep.ts';
import { apiCommand, type ConnectionOptions, clientFor } from '../connection.ts';
import { NAME_FORMS, sweepNamed } from '../names.ts';

interface Options extends ConnectionOptions {
  json?: boolean;
  output?: string;
  over?: string[];
  resolution: number;
  limit: number;
}

/** `echelon sweeps series`: a metric over the steps of each combination. */
export function sweepSeriesCommand(output: Output): Command {
  return withWide(apiCommand('series'))
    .description(
      'Print a metric over the steps of each combination of a sweep: its mean and spread over seeds.',
    )
    .argument('<id>', `sweep: ${NAME_FORMS}`)
    .argument('[metric]', 'name of the metric', 'val/success_rate')
    .option('--over <axis...>', 'axes to aggregate over (default: those that end in seed)')
    .option('--resolution <points>', 'maximum number of points per combination', wholeNumber(1, 500), 10)
    .option('-n, --limit <count>', 'maximum number of combinations', wholeNumber(1, 20), 10)
    .addHelpText('after', examples('echelon sweeps series swp-00cz8h3k7n2q4r5s6t7v episode/length/mean'))
    .action(async (name: string, metric: string, options: Options) => {
      const client = await clientFor(options);
      const path = { id: await sweepNamed(client, name) };
      const { over, limit, resolution } = options;
      const series = await client.get('/v1/sweeps/{id}/series', {
        path,
        query: { metric, over, limit, resolution },
      });
      if (options.json) return output.line(json(series));
      output.line(
        series.items.some(({ points }) => points.length > 0)
          ? describe(series, widthFor(output, options))
          : inert(
              `No child has recorded ${metric}. List the metrics of a child with \`echelon metrics ID\`.`,
            ),
      );
      if (series.next) output.remark('There are more combinations; --limit shows them.');
    });
}

function describe({ items }: SweepSeries, width: number | undefined): string {
  const number = (value: number | null) => (value === null ? '-' : value.toPrecision(4));
  const axes = Object.keys(items[0]?.values ?? {});
  const rows = items.flatMap(({ values, points }) =>
    points.map(({ from, to, n, mean, interval }) => [
      ...axes.map((axis) => shortened(inert(valueInWords(values[axis])), 60)),
      ...[from === to ? from : `${from}-${to}`, n, number(mean)],
      interval === null ? '-' : `${number(interval.low)} to ${number(interval.high)}`,
    ]),
  );
  const titles = [...axes.map(inert), 'STEPS', 'N', 'MEAN', '95 % INTERVAL'];
  return fittedTable(
    titles.map((title) => ({ title })),
    rows,
    width,
  );
}
