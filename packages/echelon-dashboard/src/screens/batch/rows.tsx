import type { BatchRows } from 'echelon-client/calls';
import { SCALE } from '../../models/heat-map.ts';
import { exactly, inert } from '../../models/words.ts';
import { Outcome } from '../../parts/marks.tsx';
import { VirtualList } from '../../parts/virtual.tsx';

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
  return (
    <div class="row-table">
      <VirtualList
        label="Rows"
        count={order.length}
        height={30}
        head={
          <div class="row-line columns" role="row">
            {['Row', 'Outcome', 'Trajectory', 'Step', 'Return', 'True', 'Reported', ''].map((name) => (
              <span key={name} role="columnheader">
                {name || <span class="hidden">Size</span>}
              </span>
            ))}
          </div>
        }
        row={(index) => {
          const at = order[index]!;
          const trajectory = rows.trajectories[rows.trajectory[at]!] ?? '';
          return (
            <div
              class="row-line"
              role="row"
              aria-rowindex={index + 2}
              aria-current={at === chosen ? 'true' : undefined}
              onClick={({ target }) => (target as Element).closest('a') ?? onChoose(at)}
            >
              <span role="cell">
                <button type="button" class="link" aria-label={`Explain row ${rows.row[at]}`}>
                  {rows.row[at]}
                </button>
              </span>
              <span role="cell">
                <Outcome outcome={rows.outcome[at]!} />
              </span>
              <span role="cell" class="clip" title={rows.groups[rows.group[at]!]}>
                {linkOf ? (
                  <a href={linkOf(trajectory, rows.step[at]!)}>{inert(trajectory)}</a>
                ) : (
                  inert(trajectory)
                )}
              </span>
              <span role="cell">{rows.step[at]}</span>
              <span role="cell">{exactly(rows.stepReturn[at])}</span>
              <span role="cell">{exactly(rows.true[at])}</span>
              <span role="cell">{exactly(rows.reported[at])}</span>
              <span role="cell">
                <Signed value={rows.reported[at] ?? null} />
              </span>
            </div>
          );
        }}
      />
    </div>
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
