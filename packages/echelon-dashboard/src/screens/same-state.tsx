import type { BatchRows } from 'echelon-client/calls';
import { counted } from 'echelon-verify/text/plural';
import { Fragment } from 'preact';
import { api } from '../app/api.ts';
import { useResource } from '../app/resource.ts';
import { place } from '../app/router.ts';
import { type BatchPath, batchHref, batchPathOf, trajectoryHref } from '../models/batch-paths.ts';
import { command } from '../models/commands.ts';
import { type Step, scaleOf, stepsOf, type Tried, triedIn } from '../models/trajectory.ts';
import { count, exactly, figure, inert } from '../models/words.ts';
import { Head } from '../parts/head.tsx';
import { Fact, Outcome } from '../parts/marks.tsx';
import { Await } from '../parts/states.tsx';
import { Signed } from './batch/rows.tsx';
import { LongText, TextsNote } from './batch/text.tsx';

/** The actions that were tried in one state, with the return and the advantage of each try. */
export function SameState({ params }: { params: Record<string, string> }) {
  const path = batchPathOf(params);
  const row = Number(place.value.query.get('row') ?? 0);
  const rows = useResource(
    (signal) => {
      const query = { sameStateAs: row };
      return api.get('/v1/experiments/{id}/batches/{attempt}/{batch}/rows', { path, query, signal });
    },
    [path, row],
  );
  return (
    <>
      <Head
        title={`Same state as row ${row}`}
        path={[
          ['/experiments', 'Experiments'],
          [`/experiments/${path.id}`, path.id],
          [batchHref(path), `Batch ${path.batch}`],
          [batchHref(path, row), `Row ${row}`],
        ]}
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
      <section class="card" aria-label="State">
        <div class="card-head">
          <h2>State</h2>
        </div>
        <p class="card-body seen">
          {steps[0]!.observation === null ? (
            <span class="muted">The batch has no observations: these are all rows of the group.</span>
          ) : (
            <LongText text={steps[0]!.observation} />
          )}
        </p>
      </section>
      <section class="card scroll">
        <div class="card-head">
          <h2>What was tried here</h2>
          <span class="muted">
            by action, the best mean return first; bars are reported advantages up to {exactly(scale)} in size
          </span>
        </div>
        <table class="plain same-state">
          <thead>
            <tr>
              <th scope="col">Row</th>
              <th scope="col">Trajectory and step</th>
              <th scope="col" class="number">
                Return
              </th>
              <th scope="col" class="number">
                True
              </th>
              <th scope="col" class="number">
                Reported
              </th>
              <th scope="col">Advantage</th>
              <th scope="col">Outcome</th>
            </tr>
          </thead>
          <tbody>
            {tried.map((one) => (
              <Fragment key={one.action}>
                <ActionLine tried={one} />
                {one.members.map((member) => (
                  <Member key={member.row} {...{ path, member, scale }} isOwn={member.row === row} />
                ))}
              </Fragment>
            ))}
          </tbody>
        </table>
      </section>
    </>
  );
}

function ActionLine({ tried: { action, members, meanReturn, meanAdvantage } }: { tried: Tried }) {
  return (
    <tr class="action-line">
      <th scope="colgroup" colSpan={7}>
        {action === null ? <span class="muted">no text of the action</span> : <LongText text={action} />}
        <span class="muted">
          {' '}
          · {counted(members.length, 'row')} · mean return {figure(meanReturn)} · mean advantage{' '}
          {figure(meanAdvantage)}
        </span>
      </th>
    </tr>
  );
}

function Member(props: { path: BatchPath; member: Step; scale: number; isOwn: boolean }) {
  const { path, member, scale, isOwn } = props;
  return (
    <tr class={isOwn ? 'own' : ''} aria-current={isOwn ? 'true' : undefined}>
      <td>
        <a href={batchHref(path, member.row)} aria-label={`Row ${member.row}`}>
          {member.row}
        </a>
      </td>
      <td>
        <a href={trajectoryHref(path, member.trajectory, member.step)}>
          {inert(member.trajectory)}, step {member.step}
        </a>
      </td>
      <td class="number">{exactly(member.stepReturn)}</td>
      <td class="number">{exactly(member.true)}</td>
      <td class="number">{exactly(member.reported)}</td>
      <td class="bar">
        <Signed value={member.reported} scale={scale} />
      </td>
      <td>
        <Outcome outcome={member.outcome} />
      </td>
    </tr>
  );
}
