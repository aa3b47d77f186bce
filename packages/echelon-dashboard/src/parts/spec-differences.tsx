import type { differingFields } from '../models/spec.ts';
import { inert, inertText } from '../models/words.ts';
import { DataTable } from './data-table.tsx';
import { Muted } from './marks.tsx';

interface SpecDifferencesProps {
  rows: ReturnType<typeof differingFields>;
  /** The names of the experiments, in the order of the values. */
  names: readonly string[];
}

/** The fields in which specs differ: a line each, with a column for each experiment. */
export function SpecDifferences({ rows, names }: SpecDifferencesProps) {
  return (
    <DataTable
      rows={rows}
      keyOf={({ field }) => field}
      columns={[
        { title: 'Field', class: 'mono', cell: ({ field }) => field },
        ...names.map((name, at) => ({
          title: inert(name),
          class: 'mono wrap',
          cell: ({ values }: (typeof rows)[number]) =>
            values[at] === undefined ? <Muted>not set</Muted> : inertText(values[at]),
        })),
      ]}
    />
  );
}
