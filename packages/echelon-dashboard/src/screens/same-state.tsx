import { counted } from 'command-kit/plural';
import type { BatchRows } from 'echelon-client/calls';
import { useGet } from '../app/resource.ts';
import { place } from '../app/router.ts';
import { command } from '../models/commands.ts';
import { aboveOf, type BatchPath, batchHref, batchPathOf, trajectoryHref } from '../models/paths.ts';
import { type Step, scaleOf, stepsOf, type Tried, triedIn } from '../models/trajectory.ts';
import { count, exactly, figure, inert } from '../models/words.ts';
import { Card } from '../parts/card.tsx';
import { type Column, DataTable } from '../parts/data-table.tsx';
import { Head } from '../parts/head.tsx';
import { Fact, Muted, Outcome } from '../parts/marks.tsx';
import { Await } from '../parts/states.tsx';
import { Signed } from './batch/rows.tsx';
import { LongText, TextsNote } from './batch/text.tsx';

/** The actions that were tried in one state, with the return and the advantage of each try. */
export function SameState({ params }: { params: Record<string, string> }) {
  const path = batchPathOf(params);
  const row = Number(place.value.query.get('row') ?? 0);
  const rows = useGet('/v1/experiments/{id}/batches/{attempt}/{batch}/rows', {
    path,
    query: { sameStateAs: row },
  });
  return (
    <>
      <Head
        title={`Same state as row ${row}`}
        path={[...aboveOf(path), [batchHref(path, row), `Row ${row}`]]}
        command={command(`batches ${path.id} ${path.attempt} ${path.batch}`, { 'same-state-as': row })}
      />
      <Await of={rows}>{(columns) => <Members path={path} rows={columns} row={row} />}</Await>
    </>
  );
}

function Members({ path, rows, row }: { path: BatchPath; rows: BatchRows; row: number }) {
  const steps = stepsOf(rows);
  const tried = triedIn(steps);
  const scale = scaleOf(steps);
  return (
    <>
      <dl class="facts">
        <Fact name="Group">
          <span class="mono">{inert(rows.groups[0]!)}</span>
        </Fact>
        <Fact name="Rows in this state">
          {rows.row.length < rows.matching
            ? `${count(rows.row.length)} of ${count(rows.matching)}`
            : count(rows.matching)}
        </Fact>
        {rows.actions !== null && <Fact name="Different actions">{count(tried.length)}</Fact>}
      </dl>
      <TextsNote rows={rows} />
      <Card title="State">
        <p class="card-body seen">
          {steps[0]!.observation === null ? (
            <Muted>The batch has no observations: these are all rows of the group.</Muted>
          ) : (
            <LongText text={steps[0]!.observation} />
          )}
        </p>
      </Card>
      <Card
        title="What was tried here"
        note={`by action, the best mean return first; bars are reported advantages up to ${exactly(scale)} in size`}
      >
        <DataTable
          class="same-state"
          rows={tried.flatMap(({ members }) => members)}
          keyOf={(member) => member.row}
          isCurrent={(member) => member.row === row}
          above={(member) => {
            const of = tried.find(({ members }) => members[0] === member);
            return of && <Action tried={of} />;
          }}
          columns={columnsFor(path, scale)}
        />
      </Card>
    </>
  );
}

function Action({ tried: { action, members, meanReturn, meanAdvantage } }: { tried: Tried }) {
  return (
    <>
      {action === null ? <Muted>no text of the action</Muted> : <LongText text={action} />}
      <Muted>
        {' '}
        · {counted(members.length, 'row')} · mean return {figure(meanReturn)} · mean advantage{' '}
        {figure(meanAdvantage)}
      </Muted>
    </>
  );
}

const columnsFor = (path: BatchPath, scale: number): Column<Step>[] => [
  {
    title: 'Row',
    cell: ({ row }) => (
      <a href={batchHref(path, row)} aria-label={`Row ${row}`}>
        {row}
      </a>
    ),
  },
  {
    title: 'Trajectory and step',
    cell: ({ trajectory, step }) => (
      <a href={trajectoryHref(path, trajectory, step)}>
        {inert(trajectory)}, step {step}
      </a>
    ),
  },
  { title: 'Return', class: 'number', cell: ({ stepReturn }) => exactly(stepReturn) },
  { title: 'True', class: 'number', cell: ({ true: truth }) => exactly(truth) },
  { title: 'Reported', class: 'number', cell: ({ reported }) => exactly(reported) },
  { title: 'Advantage', class: 'bar', cell: ({ reported }) => <Signed value={reported} scale={scale} /> },
  { title: 'Outcome', cell: ({ outcome }) => <Outcome outcome={outcome} /> },
];
