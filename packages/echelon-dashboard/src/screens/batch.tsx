import type { Answer } from 'echelon-client/calls';
import type { TokenExplanation } from 'echelon-verify/explain';
import type { BatchReport, StepReport } from 'echelon-verify/report';
import type { TokenColumns } from 'echelon-verify/verify';
import { useEffect } from 'preact/hooks';
import { api } from '../app/api.ts';
import { useGet } from '../app/resource.ts';
import { place, setQuery } from '../app/router.ts';
import { command } from '../models/commands.ts';
import { type BatchPath, batchPathOf } from '../models/paths.ts';
import { count, inert } from '../models/words.ts';
import { Head } from '../parts/head.tsx';
import { Fact, Outcomes } from '../parts/marks.tsx';
import { Await } from '../parts/states.tsx';
import { Explorer } from './batch/explorer.tsx';
import { RowDrawer } from './batch/row.tsx';
import { Signal } from './batch/signal.tsx';
import { Step, type StepSource } from './step/step.tsx';

/** Rows that are loaded at most: the API's largest page. */
const MAX_ROWS = 10_000;

type Detail = Answer<'get', '/v1/experiments/{id}/batches/{attempt}/{batch}'>;

/** A batch: which rows, groups and levels are right; of an optimizer step, which stages and tokens. */
export function Batch({ params }: { params: Record<string, string> }) {
  const path = batchPathOf(params);
  const experiment = useGet('/v1/experiments/{id}', { path: { id: path.id } });
  const batch = useGet('/v1/experiments/{id}/batches/{attempt}/{batch}', { path });
  const here = `/experiments/${path.id}/batches/${path.attempt}`;
  const name = experiment.data ? inert(experiment.data.name) : path.id;
  // Of later attempts the number of batches is not known before the end of the list.
  const last = experiment.data?.attempt === 1 ? experiment.data.verification.batches : undefined;
  return (
    <>
      <Head
        title={`Batch ${path.batch}`}
        path={[
          ['/experiments', 'Experiments'],
          [`/experiments/${path.id}`, name],
          [
            `/experiments/${path.id}?tab=verification`,
            path.attempt > 1 ? `Attempt ${path.attempt}` : 'Batches',
          ],
        ]}
        command={command(`batches ${path.id} ${path.attempt} ${path.batch}`)}
        actions={
          <>
            {path.batch > 1 && (
              <a class="button" href={`${here}/${path.batch - 1}`}>
                Previous
              </a>
            )}
            {(last === undefined || path.batch < last) && (
              <a class="button" href={`${here}/${path.batch + 1}`}>
                Next
              </a>
            )}
            <a
              class="button"
              href={`/v1/experiments/${path.id}/batches/${path.attempt}/${path.batch}/bundle`}
              download
              title="A file that echelon verify checks anywhere"
            >
              Download bundle
            </a>
          </>
        }
      />
      <Await of={batch}>
        {(detail) => (
          <>
            <About detail={detail} />
            {detail.report && 'step' in detail.report ? (
              <Step report={detail.report.step as StepReport} source={apiSource(path)} />
            ) : (
              <Rows path={path} detail={detail} />
            )}
          </>
        )}
      </Await>
    </>
  );
}

/** The tokens of a recorded step. */
const apiSource = ({ id, attempt, batch }: BatchPath): StepSource => ({
  async tokens(row, signal) {
    const path = { id, attempt, batch };
    return (await api.get('/v1/experiments/{id}/batches/{attempt}/{batch}/tokens', {
      ...{ path, query: { row }, signal },
    })) as TokenColumns;
  },
  async explain(row, position, signal) {
    const query = { attempt, batch, row, position };
    const { explanation } = await api.get('/v1/experiments/{id}/explain', { path: { id }, query, signal });
    return explanation as unknown as TokenExplanation;
  },
  command: (row, position) => command(`batches ${id} ${attempt} ${batch}`, { row, position }),
});

function About({ detail }: { detail: Detail }) {
  const { report, rows, step, digest } = detail;
  const diagnosis = report && (report as unknown as BatchReport).diagnosis;
  return (
    <>
      <dl class="facts">
        <Fact name="Step">{count(step)}</Fact>
        <Fact name="Rows">{count(rows)}</Fact>
        <Fact name="Outcomes">
          {report === null ? (
            'not yet verified'
          ) : (
            <span class="facts-rows">
              <Outcomes counts={report} rows={rows} />
            </span>
          )}
        </Fact>
        {report && (
          <Fact name={'step' in report ? 'Loss' : 'Estimator'}>
            <span class="mono">{report.fingerprint}</span>
          </Fact>
        )}
        <Fact name="SHA-256">
          <span class="mono" title={digest}>
            {digest.slice(0, 12)}…
          </span>
        </Fact>
      </dl>
      {diagnosis?.signal && <Signal signal={diagnosis.signal} partsDisagree={diagnosis.partsDisagree} />}
      {report && report.findings.length > 0 && (
        <ul class="findings" aria-label="Findings">
          {report.findings.map(({ code, severity, message, rows: first }) => (
            <li key={code} class={severity}>
              <span class="code">{code}</span> <span>{inert(message)}</span>{' '}
              {first[0] !== undefined && (
                <button
                  type="button"
                  class="link"
                  onClick={() => setQuery({ row: String(first[0]) }, { push: true })}
                >
                  Explain row {first[0]}
                </button>
              )}
            </li>
          ))}
        </ul>
      )}
    </>
  );
}

function Rows({ path, detail }: { path: BatchPath; detail: Detail }) {
  const query = { count: MAX_ROWS };
  const rows = useGet('/v1/experiments/{id}/batches/{attempt}/{batch}/rows', { path, query });
  const asked = place.value.query.get('row');
  // A link may ask for the first wrong row without knowing its number.
  const first = asked === 'wrong' ? rows.data?.row[rows.data.outcome.indexOf('wrong')] : undefined;
  useEffect(() => {
    if (first !== undefined) setQuery({ row: String(first) });
  }, [first]);
  return (
    <>
      <Await of={rows}>{(columns) => <Explorer rows={columns} total={detail.rows} path={path} />}</Await>
      {asked !== null && asked !== 'wrong' && <RowDrawer path={path} row={Number(asked)} />}
    </>
  );
}
