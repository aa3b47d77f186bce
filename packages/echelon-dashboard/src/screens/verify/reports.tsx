import type { BatchRows } from 'echelon-client/calls';
import type { Found, Verifier } from 'echelon-verify/browser';
import type { BatchReport } from 'echelon-verify/report';
import type { RecordedStepReport } from 'echelon-verify/verify';
import { useResource } from '../../app/resource.ts';
import { place, setQuery } from '../../app/router.ts';
import { command } from '../../models/commands.ts';
import { count, inert } from '../../models/words.ts';
import { DataTable } from '../../parts/data-table.tsx';
import { Outcomes } from '../../parts/marks.tsx';
import { Await } from '../../parts/states.tsx';
import { Explorer } from '../batch/explorer.tsx';
import { Drawer, Explained } from '../batch/row.tsx';
import { Step, type StepSource } from '../step/step.tsx';

/** What answers questions on the batches that were found. */
export type Answerer = Pick<Verifier, 'ask'>;

interface ReportsProps {
  found: Found;
  verifier: Answerer;
  /** Index of the batch that is shown before one is chosen. Default: 0. */
  first?: number;
}

/** The batches that were found: a table of all, and the rows of one. */
export function Reports({ found, verifier, first = 0 }: ReportsProps) {
  const { reports, dumps, skipped } = found;
  const asked = place.value.query.get('batch');
  const at = Math.min(reports.length - 1, asked === null ? first : Number(asked) || 0);
  const report = reports[at];
  return (
    <>
      {dumps.map(({ title, run, estimator }) => (
        <p key={`${run} ${estimator}`} class="muted">
          {title}
          {dumps.length > 1 && ` in ${inert(run)}`}; estimator {inert(estimator)}
        </p>
      ))}
      {skipped.length > 0 && (
        <p class="muted">In no known format, or a configuration: {inert(skipped.join(', '))}</p>
      )}
      <section class="card tall" tabIndex={0} aria-label="Batches of the file">
        <DataTable
          rows={reports.slice(0, 200).map((of, index) => ({ of, index }))}
          keyOf={({ index }) => index}
          fold="minmax(0, 1fr) auto"
          isCurrent={({ index }) => index === at}
          columns={[
            {
              title: 'Batch',
              cell: ({ of, index }) => (
                <button
                  type="button"
                  class="link"
                  onClick={() => setQuery({ batch: String(index), row: undefined })}
                >
                  {inert(of.name)}
                </button>
              ),
            },
            { title: 'Rows', cell: ({ of }) => count(of.rows) },
            {
              title: 'Outcomes',
              class: 'outcomes-cell line',
              cell: ({ of }) => <Outcomes counts={of} rows={of.rows} />,
            },
            {
              title: 'Findings',
              class: 'wrap line',
              cell: ({ of }) =>
                of.findings.map(({ code, message }) => `${code}: ${inert(message)}`).join(' '),
            },
          ]}
        />
      </section>
      {report &&
        ('step' in report ? (
          <OneStep key={at} {...{ at, report, verifier }} />
        ) : (
          <OneBatch key={at} {...{ at, report, verifier }} />
        ))}
    </>
  );
}

function OneStep({ at, report, verifier }: { at: number; report: RecordedStepReport; verifier: Answerer }) {
  const source: StepSource = {
    tokens: (row) => verifier.ask({ kind: 'tokens', at, row }),
    explain: (row, position) => verifier.ask({ kind: 'token', at, row, position }),
    command: (row, position) => command('explain FILE', { batch: report.name, row, position }),
  };
  return (
    <div class="of-file">
      <h2>{inert(report.name)}</h2>
      <p class="mono">{inert(report.fingerprint)}</p>
      <Step report={report.step} source={source} />
    </div>
  );
}

function OneBatch({ at, report, verifier }: { at: number; report: BatchReport; verifier: Answerer }) {
  const rows = useResource(() => verifier.ask({ kind: 'rows', at }), [at]);
  const asked = place.value.query.get('row');
  return (
    <div class="of-file">
      <h2>{inert(report.name)}</h2>
      <Await of={rows}>
        {(columns) => <Explorer rows={columns as unknown as BatchRows} total={report.rows} />}
      </Await>
      {asked !== null && <Row {...{ at, verifier }} row={Number(asked)} />}
    </div>
  );
}

function Row({ at, row, verifier }: { at: number; row: number; verifier: Answerer }) {
  const loaded = useResource(() => verifier.ask({ kind: 'explain', at, row }), [at, row]);
  return (
    <Drawer title={`Row ${row}`} onClose={() => setQuery({ row: undefined })}>
      <Await of={loaded}>{(explanation) => <Explained explanation={explanation} />}</Await>
    </Drawer>
  );
}
