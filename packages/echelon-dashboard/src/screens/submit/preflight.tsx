import { counted } from 'command-kit/plural';
import type { Answer } from 'echelon-client/calls';
import { useEffect, useRef, useState } from 'preact/hooks';
import { api, failureOf } from '../../app/api.ts';
import { may } from '../../app/session.ts';
import { inert } from '../../models/words.ts';
import { Step } from './step.tsx';

type Command = Answer<'get', '/v1/preflight/{id}'>;

const POLL_MS = 500;

interface PreflightProps {
  /** Undefined: there is none, or it has problems. */
  spec: object | undefined;
  onErrors: (count: number) => void;
}

/** Checks a spec on the cluster, which may take minutes; the user starts it. */
export function Preflight({ spec, onErrors }: PreflightProps) {
  const [seen, setSeen] = useState<Command>();
  const [error, setError] = useState<string>();
  const stop = useRef(new AbortController());
  useEffect(() => () => stop.current.abort(), []);
  const isBusy = seen !== undefined && seen.endedAt === null && error === undefined;
  const run = async () => {
    setError(undefined);
    const { signal } = stop.current;
    try {
      let last: Command = await api.post('/v1/preflight', { body: spec as never, signal });
      for (setSeen(last); last.endedAt === null; setSeen(last)) {
        await new Promise((done) => setTimeout(done, POLL_MS));
        last = await api.get('/v1/preflight/{id}', { path: { id: last.id }, signal });
      }
      onErrors(count(last, 'error'));
    } catch (failure) {
      if (!signal.aborted) setError(failureOf(failure).message);
    }
  };
  const button = (
    <button type="button" disabled={spec === undefined || isBusy || !may.value('submit')} onClick={run}>
      {isBusy ? 'Running…' : seen === undefined ? 'Run the preflight' : 'Run it again'}
    </button>
  );
  return (
    <Step number={2} title="Preflight" command="echelon preflight SPEC.yaml" actions={button}>
      {error && <p class="error">{error}</p>}
      {seen === undefined ? (
        <p class="muted">Checks on the cluster what would fail, hang or be ignored. It takes no GPU.</p>
      ) : (
        <Findings command={seen} isBusy={isBusy} />
      )}
    </Step>
  );
}

const count = ({ findings }: Command, wanted: Command['findings'][number]['severity']) =>
  findings.filter(({ severity }) => severity === wanted).length;

function Findings({ command, isBusy }: { command: Command; isBusy: boolean }) {
  const { cluster, findings, problems, report, state } = command;
  const shown = findings.filter(({ severity }) => severity !== 'ok');
  const ok = findings.filter(({ severity }) => severity === 'ok');
  const [errors, warnings] = [count(command, 'error'), count(command, 'warning')];
  if (isBusy) return <p class="muted">{inert(report.at(-1) ?? `waiting for the cluster ${cluster}`)}…</p>;
  return (
    <>
      <p class={errors > 0 || state === 'failed' ? 'error' : 'good'}>
        <span aria-hidden="true">{errors > 0 || state === 'failed' ? '✕' : '✓'}</span>{' '}
        {counted(findings.length, 'check')} on {inert(cluster)}: {counted(errors, 'error')},{' '}
        {counted(warnings, 'warning')}.
      </p>
      {(shown.length > 0 || problems.length > 0) && (
        <ul class="findings" aria-label="Findings">
          {shown.map(({ severity, check, message, remedy }) => (
            <li key={`${check} ${message}`} class={severity}>
              <strong>
                {severity}, {inert(check)}:
              </strong>{' '}
              {inert(message)} {remedy && <div class="muted">→ {inert(remedy)}</div>}
            </li>
          ))}
          {problems.map(({ message, remedy }) => (
            <li key={message} class="error">
              {inert(message)} <div class="muted">→ {inert(remedy)}</div>
            </li>
          ))}
        </ul>
      )}
      {ok.length > 0 && (
        <details>
          <summary>{counted(ok.length, 'successful check')}</summary>
          <ul class="differences">
            {ok.map(({ check, message }) => (
              <li key={`${check} ${message}`}>
                <strong>{inert(check)}</strong> {inert(message)}
              </li>
            ))}
          </ul>
        </details>
      )}
    </>
  );
}
