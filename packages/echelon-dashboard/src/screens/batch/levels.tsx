import { counted } from 'command-kit/plural';
import type { ExplainedLevel, RowExplanation } from 'echelon-verify/explain';
import { setQuery } from '../../app/router.ts';
import { exactly, figure, inert, inertText, percent } from '../../models/words.ts';
import { DataTable } from '../../parts/data-table.tsx';
import { Muted } from '../../parts/marks.tsx';
import { Signed } from './rows.tsx';

/** What each level adds to the advantage. */
export function Contributions({ explanation: e }: { explanation: RowExplanation }) {
  const parts = e.levels.map((level) => ({ level, value: (level.advantage ?? 0) * level.share }));
  const scale = Math.max(1e-12, Math.abs(e.true ?? 0), ...parts.map(({ value }) => Math.abs(value)));
  return (
    <section aria-label="How the levels add up">
      <h3>How the levels add up</h3>
      <DataTable
        class="contributions"
        rows={[...parts, { level: undefined, value: e.true }]}
        keyOf={({ level }) => level?.level ?? 'together'}
        columns={[
          { title: 'Level', cell: ({ level }) => (level === undefined ? 'together' : levelName(level)) },
          {
            title: 'Advantage × share',
            class: 'mono',
            cell: ({ level }) => {
              if (level === undefined) return exactly(e.true);
              if (level.dropped) return <Muted>dropped: {level.dropped.text}</Muted>;
              return `${exactly(level.advantage)} × ${figure(level.share)}`;
            },
          },
          {
            title: 'On a scale',
            class: 'bar',
            isSilent: true,
            cell: ({ value }) => <Signed value={value} scale={scale} />,
          },
        ]}
      />
    </section>
  );
}

const levelName = ({ level, valueName }: ExplainedLevel) =>
  level === -2 ? valueName : level < 0 ? 'group' : `k=${level}`;

const SHOWN_MEMBERS = 60;

export function Level({ level, explanation: e }: { level: ExplainedLevel; explanation: RowExplanation }) {
  const members = [...level.members].sort((a, b) => (b.value ?? 0) - (a.value ?? 0)).slice(0, SHOWN_MEMBERS);
  const fate = level.dropped
    ? `dropped: ${level.dropped.text}`
    : `${percent(level.share, 1)} of the advantage`;
  return (
    <details class="level" open={level.dropped === null && level.size <= 12}>
      <summary>
        <strong>{level.level < 0 ? 'Group' : `k=${level.level}`}</strong> {level.title}
        <span class="muted">
          {' '}
          · {counted(level.size, 'row')} · {fate}
        </span>
      </summary>
      {level.states.slice(1).map((state, before) => (
        <p key={before} class="observation small">
          <span class="muted">{before + 1} before</span> {inertText(state)}
        </p>
      ))}
      {e.stages === undefined && level.mean !== null && level.advantage !== null && (
        <p class="mono formula">{formula(level)}</p>
      )}
      {members.length > 0 && <Members {...{ level, members }} row={e.row} />}
      {level.size > members.length && (
        <p class="muted">
          {members.length} of {counted(level.size, 'row')} are shown.
        </p>
      )}
    </details>
  );
}

interface MembersProps {
  level: ExplainedLevel;
  members: ExplainedLevel['members'];
  /** The explained row. */
  row: number;
}

function Members({ level, members, row: own }: MembersProps) {
  const values = level.members.map(({ value }) => value ?? 0);
  const [least, most] = [Math.min(...values), Math.max(...values)];
  const placeOf = (value: number) => (most > least ? ((value - least) / (most - least)) * 100 : 50);
  return (
    <DataTable
      class="members"
      rows={members}
      keyOf={({ row }) => row}
      isCurrent={({ row }) => row === own}
      columns={[
        {
          title: 'Row',
          cell: ({ row }) => (
            <button type="button" class="link" onClick={() => setQuery({ row: String(row) })}>
              {row}
            </button>
          ),
        },
        { title: 'Trajectory', class: 'mono clip', cell: ({ trajectory }) => inert(trajectory) },
        { title: 'Step', class: 'number', cell: ({ step }) => step },
        { title: level.valueName, class: 'number', cell: ({ value }) => exactly(value) },
        {
          title: 'On a scale',
          isSilent: true,
          class: 'dots',
          cell: ({ value }) => <span style={{ left: `${placeOf(value ?? 0)}%` }} />,
        },
      ]}
    />
  );
}

function formula(level: ExplainedLevel): string {
  const own = exactly(level.own);
  const mean = (level.mean ?? 0) < 0 ? `(${exactly(level.mean)})` : exactly(level.mean);
  if (level.deviation !== null)
    return `(${own} − ${mean}) / (${exactly(level.deviation)} + ${exactly(level.epsilon)}) = ${exactly(level.advantage)}`;
  const factor = level.norm === 'leave-one-out' && level.size > 1 ? `${level.size}/${level.size - 1} × ` : '';
  return `${factor}(${own} − ${mean}) = ${exactly(level.advantage)}`;
}
