import { useEffect, useState } from 'preact/hooks';
import type { Answer } from '../../client/calls.ts';
import { ApiError } from '../../client/errors.ts';
import { api, failureOf } from '../app/api.ts';
import { navigate, place } from '../app/router.ts';
import { may } from '../app/session.ts';
import { parseSpec } from '../models/spec-text.ts';
import { inert } from '../models/words.ts';
import { Head } from '../parts/head.tsx';

type Plan = Answer<'post', '/v1/plans'>;

const EXAMPLE = {
  name: 'my first training',
  engine: 'local',
  estimator: { name: 'hgpo', historyLength: 2 },
  training: { steps: 60 },
};

interface Checked {
  text: string;
  plan?: Plan;
  problems?: { field: string; message: string }[];
}

/** A spec, the problems that the schema finds in it, its plan, and then the button. */
export function Submit() {
  const from = place.value.query.get('from');
  const [text, setText] = useState(() => JSON.stringify(EXAMPLE, null, 2));
  const [checked, setChecked] = useState<Checked>({ text: '' });
  const [busy, setBusy] = useState(false);
  useEffect(() => {
    if (from === null) return;
    api.get('/v1/experiments/{id}', { path: { id: from } }).then(
      ({ submitted }) => setText(JSON.stringify(submitted, null, 2)),
      (error) => setChecked({ text, problems: [{ field: 'from', message: failureOf(error).message }] }),
    );
  }, [from]);
  useEffect(() => {
    const timer = setTimeout(() => void check(text).then(setChecked), 500);
    return () => clearTimeout(timer);
  }, [text]);
  const isCurrent = checked.text === text;
  const submit = async () => {
    setBusy(true);
    try {
      const { id } = await api.post('/v1/experiments', { body: parseSpec(text) as never });
      navigate(`/experiments/${id}`);
    } catch (error) {
      setChecked({ text, problems: problemsOf(error) });
    } finally {
      setBusy(false);
    }
  };
  return (
    <>
      <Head title="Submit" command="echelon submit SPEC.yaml" />
      <div class="submit">
        <section class="card">
          <div class="card-head">
            <h2>
              <label for="spec">Spec (JSON)</label>
            </h2>
            <a class="end" href="/docs">
              Fields
            </a>
          </div>
          <textarea
            id="spec"
            class="mono"
            spellcheck={false}
            rows={28}
            value={text}
            onInput={(event) => setText(event.currentTarget.value)}
          />
        </section>
        <section class="card" aria-live="polite">
          <div class="card-head">
            <h2>Plan</h2>
            <button
              type="button"
              class="primary end"
              disabled={busy || !isCurrent || checked.plan === undefined || !may.value('submit')}
              onClick={submit}
            >
              {busy ? 'Submitting…' : 'Submit'}
            </button>
          </div>
          <div class="card-body">
            {!may.value('submit') && <p class="error">Your key lacks the scope submit.</p>}
            {!isCurrent && <p class="muted">Checking…</p>}
            {isCurrent && checked.problems && <Problems problems={checked.problems} />}
            {isCurrent && checked.plan && <Planned plan={checked.plan} />}
          </div>
        </section>
      </div>
    </>
  );
}

async function check(text: string): Promise<Checked> {
  try {
    return { text, plan: await api.post('/v1/plans', { body: parseSpec(text) as never }) };
  } catch (error) {
    return { text, problems: problemsOf(error) };
  }
}

function problemsOf(error: unknown): { field: string; message: string }[] {
  if (error instanceof ApiError && error.problems.length > 0) return error.problems;
  return [{ field: '', message: (error as Error).message }];
}

function Problems({ problems }: { problems: { field: string; message: string }[] }) {
  return (
    <ul class="findings" aria-label="Problems">
      {problems.map(({ field, message }) => (
        <li key={`${field} ${message}`} class="error">
          {field && <span class="code">{inert(field)}</span>} {inert(message)}
        </li>
      ))}
    </ul>
  );
}

function Planned({ plan }: { plan: Plan }) {
  return (
    <>
      <pre class="plan">{JSON.stringify(plan.plan, null, 2)}</pre>
      <p class="muted">
        {plan.fingerprint === null ? (
          'The estimator is stated by the batches.'
        ) : (
          <code>{plan.fingerprint}</code>
        )}
      </p>
    </>
  );
}
