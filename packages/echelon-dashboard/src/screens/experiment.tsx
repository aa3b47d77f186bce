import { counted, nounOf } from 'command-kit/plural';
import { useMemo, useState } from 'preact/hooks';
import { api } from '../app/api.ts';
import { useStream, useThrottled } from '../app/live.ts';
import { type Resource, useGet, usePolling, useResource } from '../app/resource.ts';
import { navigate, place } from '../app/router.ts';
import { now } from '../app/server-clock.ts';
import { may } from '../app/session.ts';
import { command } from '../models/commands.ts';
import { type Detail, isFinal, isOver, progressOf } from '../models/experiments.ts';
import { type BatchPage, type ListedBatch, settledPages } from '../models/strip.ts';
import { ago, count, duration, inert, percent } from '../models/words.ts';
import { wrongSignalOf } from '../models/wrong-signal.ts';
import { Confirm } from '../parts/dialog.tsx';
import { Head } from '../parts/head.tsx';
import { Ago, Clock, Fact, Muted, Outcomes, Status } from '../parts/marks.tsx';
import { Await } from '../parts/states.tsx';
import { StageStrips, Strip } from '../parts/strip.tsx';
import { chosenOf, type Tab, Tabs } from '../parts/tabs.tsx';
import { Attempts } from './experiment/attempts.tsx';
import { Curves } from './experiment/curves.tsx';
import { Logs } from './experiment/logs.tsx';
import { Notes } from './experiment/notes.tsx';
import { Spec } from './experiment/spec.tsx';
import { Verification } from './experiment/verification.tsx';

/** The parts of an experiment's screen; `command` shows the same in a terminal. */
const TABS: readonly Tab[] = [
  ['curves', 'Curves', 'metrics'],
  ['verification', 'Verification', 'batches'],
  ['logs', 'Logs', 'logs'],
  ['attempts', 'Attempts', 'get'],
  ['spec', 'Spec', 'get'],
];

/** The most pages of batches whose outcomes are loaded for the strip. */
const MAX_PAGES = 10;

/** An experiment: how it learns, and whether its signal is right. */
export function Experiment({ params }: { params: Record<string, string> }) {
  const id = params.id!;
  const path = { id };
  const detail = useGet('/v1/experiments/{id}', { path });
  const pages = useResource<BatchPage[]>((signal, last) => loadBatches(id, signal, last), [id, 'batches']);
  const batches = { ...pages, data: useMemo(() => pages.data?.flatMap(({ items }) => items), [pages.data]) };
  const [tick, setTick] = useState(0);
  const refresh = useThrottled(() => {
    detail.reload();
    pages.reload();
    setTick((n) => n + 1);
  }, 1000);
  const isLive = detail.data !== undefined && !isOver(detail.data);
  useExperimentEvents(id, isLive, refresh);
  usePolling(refresh, 5000, isLive);
  return (
    <Await of={detail}>
      {(experiment) => <Shown {...{ experiment, batches, tick }} onChange={refresh} />}
    </Await>
  );
}

/** Events from now on; they only say that something is new. */
function useExperimentEvents(id: string, isLive: boolean, onEvent: () => void): void {
  // An experiment that is over has no events to come, and finding its last line may need its whole stream.
  const end = useResource(
    async (signal) =>
      isLive ? api.get('/v1/experiments/{id}/logs', { path: { id }, query: { tail: 1 }, signal }) : undefined,
    [id, 'end', isLive],
  );
  const path = isLive && end.data ? `/v1/experiments/${encodeURIComponent(id)}/events` : undefined;
  useStream(path, end.data?.after ?? undefined, (told) => {
    if (told.kind === 'event' || told.state === 'ended') onEvent();
  });
}

/** All batches; of those loaded before only from the first page on which something can still change. */
async function loadBatches(id: string, signal: AbortSignal, last: BatchPage[] = []): Promise<BatchPage[]> {
  const pages = settledPages(last);
  let cursor = pages.at(-1)?.next;
  while (cursor !== null && pages.length < MAX_PAGES) {
    const query = { cursor, limit: 200 };
    const page = await api.get('/v1/experiments/{id}/batches', { path: { id }, query, signal });
    pages.push(page);
    cursor = page.next;
  }
  return pages;
}

interface ShownProps {
  experiment: Detail;
  batches: Resource<ListedBatch[]>;
  tick: number;
  onChange: () => void;
}

function Shown({ experiment, batches, tick, onChange }: ShownProps) {
  const { id, verification } = experiment;
  // Why it failed comes first.
  const tab = chosenOf(TABS, experiment.state === 'failed' ? 'logs' : undefined);
  const all = batches.data ?? [];
  return (
    <>
      <Head
        title={inert(experiment.name)}
        path={[
          ['/experiments', 'Experiments'],
          ...(experiment.sweep
            ? ([[`/sweeps/${experiment.sweep}`, experiment.sweep]] as [string, string][])
            : []),
        ]}
        command={command(`${tab[2]} ${id}`, tab[0] === 'logs' ? logOptions(place.value.query) : {})}
        actions={<Actions experiment={experiment} onChange={onChange} />}
      >
        <Status of={experiment} />
      </Head>
      <Facts experiment={experiment} />
      <Notes experiment={experiment} onChange={onChange} />
      <WrongBanner experiment={experiment} batches={all} />
      {(verification.batches > 0 || all.length > 0) && (
        <Strip experiment={id} batches={all} total={Math.max(verification.batches, all.length)} />
      )}
      <Tabs label="Parts of the experiment" path={`/experiments/${id}`} tabs={TABS} chosen={tab} />
      {tab[0] === 'curves' && (
        <>
          <Curves experiment={experiment} batches={all} tick={tick} />
          <StageStrips experiment={id} batches={all} />
        </>
      )}
      {tab[0] === 'verification' && <Verification experiment={experiment} batches={batches} />}
      {tab[0] === 'logs' && <Logs experiment={experiment} tick={tick} />}
      {tab[0] === 'attempts' && <Attempts experiment={experiment} tick={tick} />}
      {tab[0] === 'spec' && <Spec experiment={experiment} />}
    </>
  );
}

const logOptions = (query: URLSearchParams) => ({
  contains: query.get('contains') ?? undefined,
  'since-line': query.get('line') ?? undefined,
});

function Facts({ experiment }: { experiment: Detail }) {
  const { startedAt, endedAt, position, estimate, verification } = experiment;
  const { text, share } = progressOf(experiment);
  return (
    <>
      <p class="reason-line muted">
        {inert(experiment.waitReason ?? experiment.reason)}
        {experiment.stoppedBy && ` Stopped by ${inert(experiment.stoppedBy.reason)}`}
      </p>
      <dl class="facts">
        <Fact name="Id">
          <span class="mono">{experiment.id}</span>
        </Fact>
        <Fact name="Progress">
          {text}
          {share !== undefined && !isFinal(experiment.state) && (
            <progress value={share} max={1} aria-label="Progress" />
          )}
        </Fact>
        <Fact name="Rows verified">
          {verification.rowsSeen === 0 ? (
            <Muted>{isOver(experiment) ? 'none' : 'no rows yet'}</Muted>
          ) : (
            <span class="facts-rows">
              {percent(verification.rowsVerified, verification.rowsSeen)}
              <Outcomes counts={verification} rows={verification.rowsSeen} />
            </span>
          )}
        </Fact>
        {position && (
          <Fact name="Queue">
            <a href="/queue">
              {position.rank} of {position.length}
            </a>
            {estimate ? (
              <>
                , starts about <Clock at={estimate.startAt} />
              </>
            ) : (
              `, start unknown: ${experiment.noEstimate ?? ''}`
            )}
          </Fact>
        )}
        <Fact name="Project">{experiment.project}</Fact>
        {experiment.cluster && <Fact name="Cluster">{experiment.cluster}</Fact>}
        {experiment.attempt > 0 && <Fact name="Attempt">{experiment.attempt}</Fact>}
        <Fact name="Submitted">
          <Ago at={experiment.submittedAt} />
        </Fact>
        {startedAt !== null && (
          <Fact name={endedAt === null ? 'Running for' : 'Took'}>
            {duration((endedAt ?? now()) - startedAt)}
          </Fact>
        )}
        {experiment.checkpoint && <Fact name="Checkpoint">step {count(experiment.checkpoint.step)}</Fact>}
        {experiment.marks > 0 && <Fact name="Rules fired">{counted(experiment.marks, 'time')}</Fact>}
        {experiment.fingerprint && (
          <Fact name="Estimator">
            <span class="mono">{experiment.fingerprint}</span>
          </Fact>
        )}
      </dl>
    </>
  );
}

/** Why the signal is wrong, with a link to the evidence: the banner shows whatever makes the badge wrong. */
function WrongBanner({ experiment, batches }: { experiment: Detail; batches: ListedBatch[] }) {
  const { wrong, rowsVerified, signal } = experiment.verification;
  if (signal !== 'wrong') return null;
  const { first, contradictions } = wrongSignalOf(batches);
  const rows = `${count(wrong)} of ${counted(rowsVerified, 'verified row')} ${nounOf(wrong, 'is', 'are')} wrong.`;
  const path = `/experiments/${experiment.id}`;
  return (
    <p class="banner bad">
      <strong>
        {wrong > 0 ? rows : 'The training signal is wrong: batches contradict themselves or what they state.'}
      </strong>{' '}
      {contradictions.length > 0 && `${contradictions.join(', ')}. `}
      {first ? (
        <>
          First in batch {first.batch}, step {first.step}.{' '}
          <a
            href={`${path}/batches/${first.attempt}/${first.batch}${first.verification!.wrong > 0 ? '?row=wrong' : ''}`}
          >
            Why?
          </a>
        </>
      ) : (
        <a href={`${path}?tab=verification&show=not-ok`}>Show the batches</a>
      )}
    </p>
  );
}

function Actions({ experiment, onChange }: { experiment: Detail; onChange: () => void }) {
  const { id, state, verification } = experiment;
  const path = { id };
  if (!may.value('submit')) return null;
  const rerun = async () => {
    const made = await api.post('/v1/experiments/{id}/rerun', { path });
    navigate(`/experiments/${made.id}`);
  };
  return (
    <>
      <Confirm label="Run again" title="Run it again?" verb="Submit" act={rerun}>
        <p>A new experiment with the same spec joins the queue. This one stays as it is.</p>
      </Confirm>
      {!isFinal(state) && (
        <Confirm
          danger
          label="Cancel"
          title={`Cancel ${inert(experiment.name)}?`}
          verb="Cancel the experiment"
          disabled={state === 'cancelling'}
          act={async () => {
            await api.post('/v1/experiments/{id}/cancel', { path });
            onChange();
          }}
        >
          <p>
            {state === 'queued'
              ? 'It leaves the queue and never starts.'
              : `Its processes are stopped, at step ${experiment.progress.step}. Work since the last checkpoint (${
                  experiment.checkpoint ? `step ${experiment.checkpoint.step}` : 'none'
                }) is lost.`}
          </p>
        </Confirm>
      )}
      {isFinal(state) && (
        <Confirm
          danger
          label="Delete"
          title={`Delete ${inert(experiment.name)}?`}
          verb="Delete permanently"
          act={async () => {
            await api.delete('/v1/experiments/{id}', { path });
            navigate('/experiments');
          }}
        >
          <p>
            Its record, logs, metrics, {counted(verification.batches, 'batch', 'batches')} and their reports
            are deleted permanently. Checkpoints on the cluster stay. It ended{' '}
            {ago(experiment.endedAt ?? now(), now())}.
          </p>
        </Confirm>
      )}
    </>
  );
}
