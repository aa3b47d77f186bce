import { useEffect, useRef, useState } from 'preact/hooks';
import type { BatchRows } from '../../client/calls.ts';
import { counted } from '../../core/plural.ts';
import type { BatchReport } from '../../verify/report.ts';
import { useLoad } from '../app/load.ts';
import { place, setQuery } from '../app/router.ts';
import { command } from '../models/commands.ts';
import { count, inert } from '../models/words.ts';
import { Head } from '../parts/head.tsx';
import { OutcomeBar, OutcomeCounts } from '../parts/marks.tsx';
import { Await, Loading } from '../parts/states.tsx';
import { createVerifier, type Verifier } from '../verify/verifier.ts';
import { Drawer, Explained } from './batch/row.tsx';
import { Explorer } from './batch.tsx';

interface Opened {
  name: string;
  reports?: BatchReport[];
  error?: string;
}

/** A batch file of any trainer, verified in this page: nothing is sent. */
export function Verify() {
  const verifier = useRef<Verifier>(undefined);
  const [opened, setOpened] = useState<Opened>();
  useEffect(() => () => verifier.current?.close(), []);
  const open = async (file: File | undefined) => {
    if (file === undefined) return;
    verifier.current?.close();
    verifier.current = createVerifier();
    setQuery({ batch: undefined, row: undefined });
    setOpened({ name: file.name });
    try {
      const bytes = new Uint8Array(await file.arrayBuffer());
      const reports = await verifier.current.ask({ kind: 'read', name: file.name, bytes });
      setOpened({ name: file.name, reports });
    } catch (error) {
      setOpened({ name: file.name, error: (error as Error).message });
    }
  };
  return (
    <>
      <Head title="Verify a file" command={command(`verify ${opened?.name ?? 'FILE'}`)} />
      <label
        class="drop"
        onDragOver={(event) => event.preventDefault()}
        onDrop={(event) => {
          event.preventDefault();
          void open(event.dataTransfer?.files[0]);
        }}
      >
        <strong>Choose a file, or drop it here</strong>
        <span class="muted">
          echelon-batch/1 as JSON or protobuf, plain or in gzip, or a bundle. It is read in this page and not
          sent anywhere. Dumps of other trainers: <code>echelon verify</code>.
        </span>
        <input type="file" onChange={(event) => void open(event.currentTarget.files?.[0])} />
      </label>
      {opened?.error && (
        <p class="banner bad" role="alert">
          {inert(opened.name)} was not verified: {inert(opened.error)}
        </p>
      )}
      {opened && !opened.reports && !opened.error && <Loading what={`Verifying ${inert(opened.name)}`} />}
      {opened?.reports && <Found key={opened.name} reports={opened.reports} verifier={verifier.current!} />}
    </>
  );
}

function Found({ reports, verifier }: { reports: BatchReport[]; verifier: Verifier }) {
  const at = Math.min(reports.length - 1, Number(place.value.query.get('batch')) || 0);
  const report = reports[at];
  const notOk = reports.filter(({ ok }) => !ok).length;
  return (
    <>
      <p class="banner" role="status">
        {counted(reports.length, 'batch', 'batches')} verified,{' '}
        {notOk === 0 ? 'every one is ok' : `${count(notOk)} not ok`}.
      </p>
      <section class="card scroll tall" tabIndex={0} aria-label="Batches of the file">
        <table class="plain">
          <thead>
            <tr>
              {['Batch', 'Rows', 'Outcomes', 'Findings'].map((title) => (
                <th key={title} scope="col">
                  {title}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {reports.slice(0, 200).map((one, index) => (
              <tr key={one.name} aria-current={index === at ? 'true' : undefined}>
                <td>
                  <button
                    type="button"
                    class="link"
                    onClick={() => setQuery({ batch: String(index), row: undefined })}
                  >
                    {inert(one.name)}
                  </button>
                </td>
                <td>{count(one.rows)}</td>
                <td class="outcomes-cell">
                  <OutcomeBar counts={one} rows={one.rows} />
                  <OutcomeCounts counts={one} rows={one.rows} />
                </td>
                <td class="wrap">
                  {one.findings.map(({ code, message }) => `${code}: ${inert(message)}`).join(' ')}
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </section>
      {report && <OneBatch key={at} {...{ at, report, verifier }} />}
    </>
  );
}

function OneBatch({ at, report, verifier }: { at: number; report: BatchReport; verifier: Verifier }) {
  const rows = useLoad(() => verifier.ask({ kind: 'rows', at }), [at]);
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

function Row({ at, row, verifier }: { at: number; row: number; verifier: Verifier }) {
  const loaded = useLoad(() => verifier.ask({ kind: 'explain', at, row }), [at, row]);
  return (
    <Drawer title={`Row ${row}`} onClose={() => setQuery({ row: undefined })}>
      <Await of={loaded}>{(explanation) => <Explained explanation={explanation} />}</Await>
    </Drawer>
  );
}
