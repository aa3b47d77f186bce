import { counted } from 'command-kit/plural';
import type { ReportHead } from 'echelon-verify/html';
import { useMemo } from 'preact/hooks';
import { place, setQuery } from '../app/router.ts';
import { count, inert } from '../models/words.ts';
import { Head } from '../parts/head.tsx';
import { Fact, Outcomes } from '../parts/marks.tsx';
import { Reports } from '../screens/verify/reports.tsx';
import { answererOf } from './contents.ts';

/** A verification in one file: what was found, and the rows with their explanations. */
export function Report({ head }: { head: ReportHead }) {
  const { command, totals, reports, dumps, firstWrong } = head;
  const answerer = useMemo(() => answererOf(head), [head]);
  const firstNotOk = reports.findIndex(({ ok, consistent }) => !ok && !consistent);
  const first = firstWrong?.at ?? Math.max(0, firstNotOk);
  const shown = reports[Number(place.value.query.get('batch') ?? first)];
  return (
    <main id="main">
      <Head title="Verification of advantages" command={command} />
      <Summary {...{ totals }} />
      <dl class="facts">
        <Fact name="Rows">{count(totals.rows)}</Fact>
        <Fact name="Outcomes">
          <span class="facts-rows">
            <Outcomes counts={totals} rows={totals.rows} />
          </span>
        </Fact>
      </dl>
      {firstWrong && <FirstWrong name={reports[firstWrong.at]!.name} {...firstWrong} />}
      {reports.length < totals.batches && (
        <p class="muted">
          {count(reports.length)} of {count(totals.batches)} batches are listed, those that are not ok first.
        </p>
      )}
      {shown?.withoutTexts && (
        <p class="muted">The texts of this batch are omitted, to keep the file below 1 MB.</p>
      )}
      <Reports found={{ reports: reports as never, dumps, skipped: [] }} verifier={answerer} first={first} />
      <p class="muted small">This file holds everything that it shows. It loads and sends nothing.</p>
    </main>
  );
}

function Summary({ totals: { batches, ok, consistent } }: Pick<ReportHead, 'totals'>) {
  const notOk = batches - ok - consistent;
  const tone = notOk > 0 ? 'bad' : consistent > 0 ? 'warn' : 'good';
  return (
    <p class={`banner ${tone}`} role="status">
      {count(ok)} of {counted(batches, 'batch', 'batches')} ok
      {notOk > 0 && `, ${count(notOk)} not ok`}
      {consistent > 0 && `; ${count(consistent)} consistent but not verified`}.
    </p>
  );
}

interface FirstWrongProps {
  name: string;
  at: number;
  row: number;
  likelyCause: string | null;
}

function FirstWrong({ name, at, row, likelyCause }: FirstWrongProps) {
  return (
    <p class="banner">
      The first wrong row is row {row} of {inert(name)}.{' '}
      {likelyCause !== null && (
        <>
          <strong>Likely cause:</strong> {inert(likelyCause)}.{' '}
        </>
      )}
      <button
        type="button"
        class="link"
        onClick={() => setQuery({ batch: String(at), row: String(row) }, { push: true })}
      >
        Explain row {row}
      </button>
    </p>
  );
}
