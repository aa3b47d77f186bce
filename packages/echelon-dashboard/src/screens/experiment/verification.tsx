import { counted } from 'echelon-verify/text/plural';
import type { Resource } from '../../app/resource.ts';
import { navigate, place, setQuery } from '../../app/router.ts';
import type { ListedBatch } from '../../models/strip.ts';
import { count, percent } from '../../models/words.ts';
import { Fact, OutcomeBar, OutcomeCounts } from '../../parts/marks.tsx';
import { PlainTable } from '../../parts/plain-table.tsx';
import { Await, Empty } from '../../parts/states.tsx';
import type { Detail } from '../experiment.tsx';

const SHOWN = 500;

/** How much of the signal is verified, what was found, and the batches. */
export function Verification({
  experiment,
  batches,
}: {
  experiment: Detail;
  batches: Resource<ListedBatch[]>;
}) {
  const { verification: counts } = experiment;
  return (
    <>
      <dl class="facts">
        <Fact name="Batches verified">
          {count(counts.batchesVerified)} of {count(counts.batches)}
        </Fact>
        <Fact name="Rows verified">
          {count(counts.rowsVerified)} of {count(counts.rowsSeen)} (
          {percent(counts.rowsVerified, counts.rowsSeen)})
        </Fact>
        <Fact name="Rows dropped at their source">{count(counts.dropped)}</Fact>
        <Fact name="Error findings">{count(counts.errors)}</Fact>
        <Fact name="Status">{counts.status}</Fact>
      </dl>
      <Await of={batches}>
        {(all) =>
          all.length === 0 ? (
            <Empty title="No batch yet">
              <p>Batches appear when the training computes its first advantages.</p>
            </Empty>
          ) : (
            <Batches experiment={experiment} all={all} />
          )
        }
      </Await>
    </>
  );
}

function Batches({ experiment, all }: { experiment: Detail; all: ListedBatch[] }) {
  const only = place.value.query.get('show') === 'not-ok';
  const fitting = only ? all.filter(({ verification }) => verification !== null && !verification.ok) : all;
  const shown = fitting.slice(0, SHOWN);
  const href = ({ attempt, batch }: ListedBatch) =>
    `/experiments/${experiment.id}/batches/${attempt}/${batch}`;
  return (
    <section class="card">
      <div class="card-head">
        <h2>Batches</h2>
        <span class="muted">
          {count(shown.length)} of {counted(experiment.verification.batches, 'batch', 'batches')}
        </span>
        <Findings all={all} />
        <label class="end">
          <input
            type="checkbox"
            checked={only}
            onChange={(event) => setQuery({ show: event.currentTarget.checked ? 'not-ok' : undefined })}
          />{' '}
          only batches that are not ok
        </label>
      </div>
      {shown.length === 0 ? (
        <Empty title="Every verified batch is ok" />
      ) : (
        <div class="scroll">
          <PlainTable columns={['Batch', 'Step', 'Rows', 'Outcomes', 'Findings']} numbers={['Step', 'Rows']}>
            {shown.map((batch) => (
              <tr key={`${batch.attempt}/${batch.batch}`} class="pick" onClick={() => navigate(href(batch))}>
                <td>
                  <a href={href(batch)}>
                    {batch.attempt > 1 ? `${batch.attempt}/` : ''}
                    {batch.batch}
                  </a>
                </td>
                <td class="number">{count(batch.step)}</td>
                <td class="number">{count(batch.rows)}</td>
                <td class="outcomes-cell">
                  {batch.verification === null ? (
                    <span class="muted">not yet verified</span>
                  ) : (
                    <>
                      <OutcomeBar counts={batch.verification} rows={batch.rows} />
                      <OutcomeCounts counts={batch.verification} rows={batch.rows} />
                    </>
                  )}
                </td>
                <td>{batch.verification?.findings.join(', ')}</td>
              </tr>
            ))}
          </PlainTable>
        </div>
      )}
    </section>
  );
}

/** The codes of the findings, with the number of batches that have each. */
function Findings({ all }: { all: ListedBatch[] }) {
  const codes = new Map<string, number>();
  for (const { verification } of all)
    for (const code of verification?.findings ?? []) codes.set(code, (codes.get(code) ?? 0) + 1);
  return (
    <span class="codes">
      {[...codes].map(([code, batches]) => (
        <span key={code} class="code">
          {code} <span class="muted">× {count(batches)}</span>
        </span>
      ))}
    </span>
  );
}
