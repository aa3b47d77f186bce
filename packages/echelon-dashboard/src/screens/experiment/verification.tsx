import { counted } from 'command-kit/plural';
import { contradictionsOf, isWrong } from 'echelon-verify/report';
import type { Resource } from '../../app/resource.ts';
import { navigate, place, setQuery } from '../../app/router.ts';
import type { Detail } from '../../models/experiments.ts';
import { batchHref } from '../../models/paths.ts';
import type { ListedBatch } from '../../models/strip.ts';
import { count, percent } from '../../models/words.ts';
import { Card } from '../../parts/card.tsx';
import { DataTable } from '../../parts/data-table.tsx';
import { Fact, Muted, Outcomes } from '../../parts/marks.tsx';
import { Await, Empty } from '../../parts/states.tsx';
import { SignalCurves } from './signal-curves.tsx';

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
            <>
              <SignalCurves id={experiment.id} tick={experiment.verification.batchesVerified} />
              <Batches experiment={experiment} all={all} />
            </>
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
  const href = (batch: ListedBatch) => batchHref({ id: experiment.id, ...batch });
  return (
    <Card
      title="Batches"
      note={`${count(shown.length)} of ${counted(experiment.verification.batches, 'batch', 'batches')}`}
      end={
        <>
          <Findings all={all} />
          <label>
            <input
              type="checkbox"
              checked={only}
              onChange={(event) => setQuery({ show: event.currentTarget.checked ? 'not-ok' : undefined })}
            />{' '}
            only batches that are not ok
          </label>
        </>
      }
    >
      {shown.length === 0 ? (
        <Empty title="Every verified batch is ok" />
      ) : (
        <DataTable
          rows={shown}
          keyOf={({ attempt, batch }) => `${attempt}/${batch}`}
          onPick={(batch) => navigate(href(batch))}
          columns={[
            { title: 'Batch', cell: (batch) => <a href={href(batch)}>{numberOf(batch)}</a> },
            { title: 'Step', class: 'number', cell: ({ step }) => count(step) },
            { title: 'Rows', class: 'number', cell: ({ rows }) => count(rows) },
            {
              title: 'Outcomes',
              class: 'outcomes-cell',
              cell: ({ verification, rows }) =>
                verification ? (
                  <>
                    <Outcomes counts={verification} rows={rows} />
                    {verification.wrong === 0 && isWrong(verification) && (
                      <span class="outcome wrong small">✕ {contradictionsOf(verification).join(', ')}</span>
                    )}
                  </>
                ) : (
                  <Muted>not yet verified</Muted>
                ),
            },
            { title: 'Findings', cell: ({ verification }) => verification?.findings.join(', ') },
          ]}
        />
      )}
    </Card>
  );
}

const numberOf = ({ attempt, batch }: ListedBatch) => (attempt > 1 ? `${attempt}/${batch}` : batch);

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
