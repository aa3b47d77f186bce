import { inert } from 'command-kit/inert';
import { table } from 'command-kit/table';
import { Option } from 'commander';
import type { Usage } from 'echelon-client/calls';
import { csvLine } from 'echelon-client/csv';
import { row, stated } from '../row.ts';

const GROUPS = ['project', 'owner', 'cluster', 'gpuType'] as const;
type Group = (typeof GROUPS)[number];
const COLUMNS = [...GROUPS, 'gpuHours', 'cpuHours', 'attempts', 'cost'] as const;

const usage = row({
  name: 'usage',
  description: 'Show GPU hours and cost of a period; by default of the last 30 days.',
  options: [
    ['--from <day>', 'first day (UTC), as 2026-01-31'],
    ['--to <day>', 'last day (UTC)'],
    () => new Option('--by <field>', 'one line for each').choices(GROUPS).default('project'),
    ['--csv', 'print CSV with one line for each project, owner, cluster and GPU type'],
  ],
  examples: ['echelon usage --by owner', 'echelon usage --from 2026-01-01 --to 2026-01-31 --csv'],
  verb: 'get',
  path: '/v1/usage',
  input: ({ from, to }: { from?: string; to?: string; by: Group; csv?: boolean }) => ({
    query: stated({ from, to }),
  }),
  print: (answer, { by, csv }) => (csv ? usageCsv(answer) : usageTable(answer, by)),
});

/** One line for each value of a field, and their sum. */
export function usageTable({ from, to, gpuHours, cost, items }: Usage, by: Group): string {
  const rows = [...Map.groupBy(items, (item) => item[by])].map(([name, own]) => [
    inert(name) || '-',
    ...figures(own),
  ]);
  const all = ['total', gpuHours.toFixed(2), ...figures(items).slice(1, 3), money(cost)];
  const head = [
    by === 'gpuType' ? 'GPU TYPE' : by.toUpperCase(),
    'GPU HOURS',
    'CPU HOURS',
    'ATTEMPTS',
    'COST',
  ];
  return `${from} to ${to} (UTC)\n${table(head, [...rows, all])}`;
}

function figures(items: Usage['items']): string[] {
  const sum = (field: 'gpuHours' | 'cpuHours' | 'attempts') =>
    items.reduce((total, item) => total + item[field], 0);
  const isPriced = items.every(({ cost }) => cost !== null);
  const cost = isPriced ? items.reduce((total, item) => total + item.cost!, 0) : null;
  return [sum('gpuHours').toFixed(2), sum('cpuHours').toFixed(2), String(sum('attempts')), money(cost)];
}

function money(cost: number | null): string {
  return cost === null ? '-' : cost.toFixed(2);
}

/** The usage as CSV. */
export function usageCsv({ items }: Usage): string {
  return [COLUMNS, ...items.map((item) => COLUMNS.map((column) => item[column]))].map(csvLine).join('\n');
}

/** The commands of this module by their names. */
export const commands = { usage };
