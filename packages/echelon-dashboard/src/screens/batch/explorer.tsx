import { counted } from 'command-kit/plural';
import type { BatchRows } from 'echelon-client/calls';
import { useMemo } from 'preact/hooks';
import { place, setQuery } from '../../app/router.ts';
import { HeatMap } from '../../charts/heat-map.tsx';
import { orderOf } from '../../models/heat-map.ts';
import { OUTCOMES, type Outcome as OutcomeName } from '../../models/outcomes.ts';
import { type BatchPath, trajectoryHref } from '../../models/paths.ts';
import { count } from '../../models/words.ts';
import { Chips, Choice } from '../../parts/filters.tsx';
import { Empty } from '../../parts/states.tsx';
import { RowTable } from './rows.tsx';

interface ExplorerProps {
  rows: BatchRows;
  /** Rows of the whole batch. */
  total: number;
  /** The recorded batch, whose trajectories have a screen; none for a file. */
  path?: BatchPath;
}

/** The heat map and the table of the rows that fit the filters. */
export function Explorer({ rows, total, path }: ExplorerProps) {
  const { query } = place.value;
  const outcome = OUTCOMES.find((one) => one === query.get('outcome'));
  const group = query.get('group') ?? undefined;
  const trajectory = query.get('trajectory') ?? undefined;
  const order = useMemo(
    () => orderOf(rows, { outcome, group, trajectory }),
    [rows, outcome, group, trajectory],
  );
  const chosen = query.has('row') ? rows.row.indexOf(Number(query.get('row'))) : -1;
  const choose = (at: number) => setQuery({ row: String(rows.row[at]) }, { push: chosen < 0 });
  return (
    <>
      <Filters {...{ rows, outcome, group, trajectory }}>
        <span class="muted end" role="status">
          {count(order.length)} of {counted(total, 'row')}
          {rows.row.length < total && `; the first ${count(rows.row.length)} are loaded`}
        </span>
      </Filters>
      {order.length === 0 ? (
        <Empty title="No row matches these filters">
          <p>
            <button
              type="button"
              onClick={() => setQuery({ outcome: undefined, group: undefined, trajectory: undefined })}
            >
              Clear the filters
            </button>
          </p>
        </Empty>
      ) : (
        <div class="batch-grid">
          <section class="card" aria-label="Heat map">
            <HeatMap {...{ rows, order, chosen }} onChoose={choose} />
          </section>
          <RowTable
            {...{ rows, order, chosen }}
            onChoose={choose}
            linkOf={path && ((name, step) => trajectoryHref(path, name, step))}
          />
        </div>
      )}
    </>
  );
}

interface FiltersProps {
  rows: BatchRows;
  outcome: OutcomeName | undefined;
  group: string | undefined;
  trajectory: string | undefined;
  children: preact.ComponentChildren;
}

function Filters({ rows, outcome, group, trajectory, children }: FiltersProps) {
  const ofGroup =
    group === undefined
      ? rows.trajectories
      : rows.trajectories.filter((_name, index) =>
          rows.trajectory.some((one, at) => one === index && rows.groups[rows.group[at]!] === group),
        );
  return (
    <div class="toolbar" role="search">
      <Chips
        options={OUTCOMES}
        labelOf={(one) => one}
        isOn={(one) => one === outcome}
        onToggle={(one) => setQuery({ outcome: one === outcome ? undefined : one })}
      />
      <Choice label="Group" name="group" value={group} options={rows.groups} none="all" />
      <Choice
        label="Trajectory"
        name="trajectory"
        value={trajectory}
        options={ofGroup.slice(0, 2000)}
        none="all"
      />
      {children}
    </div>
  );
}
