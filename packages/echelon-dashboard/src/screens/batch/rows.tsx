import type { BatchRows } from 'echelon-client/calls';
import { SCALE } from '../../models/heat-map.ts';
import { exactly, inert } from '../../models/words.ts';
import { DataTable } from '../../parts/data-table.tsx';
import { Outcome } from '../../parts/marks.tsx';

interface RowTableProps {
  rows: BatchRows;
  order: number[];
  chosen: number;
  onChoose: (at: number) => void;
  /** The screen of a trajectory at a step; undefined if there is none. */
  linkOf?: ((trajectory: string, step: number) => string) | undefined;
}

/** The rows as a table: the heat map in numbers. */
export function RowTable({ rows, order, chosen, onChoose, linkOf }: RowTableProps) {
  const trajectoryOf = (at: number) => rows.trajectories[rows.trajectory[at]!] ?? '';
  return (
    <DataTable
      class="row-table"
      rows={order}
      keyOf={(at) => at}
      isCurrent={(at) => at === chosen}
      onPick={onChoose}
      view={{ label: 'Rows', height: 30 }}
      columns={[
        {
          title: 'Row',
          width: '52px',
          cell: (at) => (
            <button type="button" class="link" aria-label={`Explain row ${rows.row[at]}`}>
              {rows.row[at]}
            </button>
          ),
        },
        { title: 'Outcome', width: '100px', cell: (at) => <Outcome outcome={rows.outcome[at]!} /> },
        {
          title: 'Trajectory',
          class: 'wide',
          cell: (at) => {
            const [name, title] = [inert(trajectoryOf(at)), rows.groups[rows.group[at]!]];
            if (linkOf === undefined) return <span title={title}>{name}</span>;
            return (
              <a href={linkOf(trajectoryOf(at), rows.step[at]!)} title={title}>
                {name}
              </a>
            );
          },
        },
        { title: 'Step', class: 'number wide', width: '46px', cell: (at) => rows.step[at] },
        { title: 'Return', class: 'number wide', cell: (at) => exactly(rows.stepReturn[at]) },
        { title: 'True', class: 'number', width: '92px', cell: (at) => exactly(rows.true[at]) },
        { title: 'Reported', class: 'number', width: '92px', cell: (at) => exactly(rows.reported[at]) },
        {
          title: 'Size',
          isSilent: true,
          class: 'wide',
          width: '68px',
          cell: (at) => <Signed value={rows.reported[at] ?? null} />,
        },
      ]}
    />
  );
}

/** A value as a bar from the middle: left if negative. */
export function Signed({ value, scale = SCALE }: { value: number | null; scale?: number }) {
  const share = value === null ? 0 : Math.min(1, Math.abs(value) / scale) * 50;
  const style = (value ?? 0) < 0 ? { right: '50%', width: `${share}%` } : { left: '50%', width: `${share}%` };
  return (
    <span class="signed" aria-hidden="true">
      <span class={(value ?? 0) < 0 ? 'negative' : 'positive'} style={style} />
    </span>
  );
}
