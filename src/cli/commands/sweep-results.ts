import { wholeNumber } from 'command-kit/arguments';
import { inert } from 'command-kit/inert';
import { type Column, fittedTable } from 'command-kit/table';
import { shortened } from 'command-kit/width';
import type { SweepComparison } from 'echelon-client/calls';
import { valueInWords } from '../../plan/sweep-names.ts';
import { row, SWEEP } from '../row.ts';
import { duration } from '../states.ts';

interface CompareOptions {
  metric?: string[];
  over?: string[];
  limit: number;
}

/** `echelon sweeps compare`: one row per combination of values. */
export const compare = row({
  name: 'compare',
  description: 'Compare the children of a sweep: one row per combination of values, aggregated over seeds.',
  arguments: [SWEEP],
  options: [
    ['-m, --metric <name...>', 'metrics to show (default: the metric of the sweep)'],
    ['--over <axis...>', 'axes to aggregate over (default: those that end in seed)'],
    ['-n, --limit <count>', 'maximum number of rows', wholeNumber(1, 200), 50],
  ],
  examples: [
    'echelon sweeps compare swp-00cz8h3k7n2q4r5s6t7v',
    'echelon sweeps compare swp-00cz8h3k7n2q4r5s6t7v --metric val/success_rate episode/length/mean',
  ],
  verb: 'get',
  path: '/v1/sweeps/{id}/comparison',
  input: ({ metric: metrics, over, limit }: CompareOptions) => ({ query: { metrics, over, limit } }),
  print(comparison, { width }, output) {
    output.line(describeComparison(comparison, width));
    if (comparison.next) output.remark('There are more rows; --limit shows them.');
    const missing = missingMetrics(comparison);
    if (missing.length === 0) return;
    const which = `No child reported ${missing.join(', ')}.`;
    output.remark(inert(`${which} List the metrics of a child with \`echelon metrics ID\`.`));
  },
});

/** The metrics that no child reported although children succeeded. Probably the trainer spells them differently. */
function missingMetrics({ items, metrics }: SweepComparison): string[] {
  if (items.every(({ succeeded }) => succeeded === 0)) return [];
  return metrics.filter((name) => items.every(({ metrics: found }) => found[name]!.n === 0));
}

function describeComparison({ items, metrics }: SweepComparison, width: number | undefined): string {
  const axes = Object.keys(items[0]?.values ?? {});
  const number = (value: number | null) => (value === null ? '-' : value.toPrecision(4));
  const compared = new Set(items.flatMap(({ reference }) => Object.keys(reference ?? {})));
  const coded = items.some(({ customCode }) => customCode);
  const rows = items.map(({ values, metrics: found, rows: checked, reference, ...row }) => [
    ...axes.map((pointer) => cell(values[pointer])),
    `${row.succeeded}/${row.children}`,
    ...metrics.flatMap((name) => {
      const { mean, std, n, interval } = found[name]!;
      const likely = interval === null ? '' : `, 95 %: ${number(interval.low)} to ${number(interval.high)}`;
      const spread = std === null ? '' : ` ± ${number(std)}`;
      const measured = n === 0 ? '-' : `${number(mean)}${spread} (n=${n}${likely})`;
      return compared.has(name) ? [measured, number(reference?.[name] ?? null)] : [measured];
    }),
    checked.exact,
    checked.rounding,
    checked.wrong,
    ...(coded ? [row.customCode ? 'yes' : ''] : []),
    duration(row.gpuSeconds * 1000),
    duration(row.cpuSeconds * 1000),
  ]);
  const column = (title: string, how: Omit<Column, 'title'> = {}): Column => ({
    title: inert(title),
    ...how,
  });
  const columns = [
    ...axes.map((pointer) => column(pointer, { minWidth: 8 })),
    column('SUCCEEDED', { drop: 1 }),
    ...metrics.flatMap((name) => [
      column(name, { minWidth: 16, cut: withoutInterval }),
      ...(compared.has(name) ? [column('PAPER')] : []),
    ]),
    column('EXACT', { drop: 4 }),
    column('ROUNDING', { drop: 3 }),
    column('WRONG'),
    ...(coded ? [column('CUSTOM CODE', { drop: 2 })] : []),
    column('GPU', { drop: 5 }),
    column('CPU', { drop: 6 }),
  ];
  return fittedTable(columns, rows, width);
}

/** A measured value without the interval in parentheses after it. */
const withoutInterval = (text: string, width: number): string =>
  shortened(text.replace(/ \(n=.*$/, ''), width);

/** A value of an axis as a cell of a table. */
export function cell(value: unknown): string {
  return shortened(inert(valueInWords(value)), 60);
}
