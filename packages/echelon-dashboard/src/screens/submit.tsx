import { useEffect, useRef, useState } from 'preact/hooks';
import { api } from '../app/api.ts';
import { rest, useResource } from '../app/resource.ts';
import { navigate, place } from '../app/router.ts';
import { may } from '../app/session.ts';
import { lineRange, type Problem, writeSpec } from '../models/spec.ts';
import { inert } from '../models/words.ts';
import { Choice } from '../parts/filters.tsx';
import { Head } from '../parts/head.tsx';
import { WhatIfAnswer } from '../parts/what-if.tsx';
import { check, problemsOf } from './submit/check.ts';
import { Editor } from './submit/editor.tsx';
import { Planned, PlannedSweep } from './submit/planned.tsx';
import { Preflight } from './submit/preflight.tsx';
import { Step } from './submit/step.tsx';
import { TEMPLATES } from './submit/templates.ts';

const [EXAMPLE = ''] = Object.values(TEMPLATES);
/** The text rests this long before it is checked. */
const REST_MS = 400;

/** A spec with the problems that the schema finds in it, its plan, its preflight, its start, and then the button. */
export function Submit() {
  const from = place.value.query.get('from');
  const [text, setText] = useState(EXAMPLE);
  const [refused, setRefused] = useState<{ text: string; problems: Problem[] }>();
  const [errors, setErrors] = useState(0);
  const editor = useRef<HTMLTextAreaElement>(null);
  useEffect(() => {
    if (from === null) return;
    const read = api.get('/v1/experiments/{id}', { path: { id: from } });
    read
      .then(({ submitted }) => writeSpec(submitted))
      .then(setText, (error) => setRefused({ text, problems: problemsOf(error) }));
  }, [from]);
  useEffect(() => setErrors(0), [text]);
  const { data: checked } = useResource(
    async (signal) => {
      await rest(REST_MS, signal);
      return check(text);
    },
    [text],
  );
  const problems = refused?.text === text ? refused.problems : (checked?.problems ?? []);
  const spec = problems.length === 0 ? checked?.spec : undefined;
  // The children of a sweep differ little: the first stands for them.
  const single = checked?.sweep ? spec && (checked.sweep.children[0]?.spec as object) : spec;
  const show = (line: number) => {
    editor.current?.focus();
    editor.current?.setSelectionRange(...lineRange(text, line));
  };
  const refuse = (error: unknown) => setRefused({ text, problems: problemsOf(error, checked?.lineOf) });
  return (
    <>
      <Head
        title="Submit"
        actions={
          <Choice
            label="Begin with"
            none="a template"
            options={Object.keys(TEMPLATES)}
            onChoose={(name) => setText(TEMPLATES[name] ?? text)}
          />
        }
      />
      <div class="submit">
        <Editor {...{ text, problems, onInput: setText }} of={editor} />
        <div class="steps-list">
          <Step number={1} title="Check" command="echelon submit --dry-run SPEC.yaml">
            {!checked && problems.length === 0 && <p class="muted">Checking…</p>}
            {problems.length > 0 && <Problems problems={problems} onShow={show} />}
            {checked?.plan && problems.length === 0 && <Planned plan={checked.plan} />}
            {checked?.sweep && problems.length === 0 && <PlannedSweep sweep={checked.sweep} />}
          </Step>
          <Preflight key={text} spec={single} onErrors={setErrors} />
          <Step number={3} title="Start" command="echelon submit --dry-run SPEC.yaml">
            {checked?.sweep && spec && <p class="muted">Of the first child:</p>}
            <Start spec={single} />
          </Step>
          <SubmitButton {...{ spec, errors, refuse }} isSweep={checked?.sweep !== undefined} />
        </div>
      </div>
    </>
  );
}

/** Problems of a spec, each with a button that goes to its line. */
function Problems({ problems, onShow }: { problems: Problem[]; onShow: (line: number) => void }) {
  return (
    <ul class="findings" aria-label="Problems">
      {problems.map(({ field, message, line }) => (
        <li key={`${field} ${message}`} class="error">
          {line !== undefined && (
            <button type="button" class="link" onClick={() => onShow(line)}>
              line {line}
            </button>
          )}{' '}
          {field && <span class="code">{inert(field)}</span>} {inert(message)}
        </li>
      ))}
    </ul>
  );
}

/** When a valid spec would start, and whom it would delay. */
function Start({ spec }: { spec: object | undefined }) {
  const asked = useResource(
    async (signal) =>
      spec && (await api.post('/v1/queues/what-if', { body: { spec: spec as never }, signal })),
    [spec],
  );
  if (spec === undefined) return <p class="muted">After the check.</p>;
  if (asked.failure) return <p class="error">{asked.failure.message}</p>;
  return asked.data ? <WhatIfAnswer found={asked.data} /> : <p class="muted">Asking the scheduler…</p>;
}

interface ButtonProps {
  /** Undefined: there is none, or it has problems. */
  spec: object | undefined;
  /** Errors of its preflight. */
  errors: number;
  refuse: (error: unknown) => void;
  isSweep: boolean;
}

function SubmitButton({ spec, errors, refuse, isSweep }: ButtonProps) {
  const [busy, setBusy] = useState(false);
  const submit = async () => {
    setBusy(true);
    try {
      const { id } = await (isSweep
        ? api.post('/v1/sweeps', { body: spec as never })
        : api.post('/v1/experiments', { body: spec as never }));
      navigate(`/${isSweep ? 'sweeps' : 'experiments'}/${id}`);
    } catch (error) {
      refuse(error);
      setBusy(false);
    }
  };
  const label = errors > 0 ? 'Submit despite the errors' : 'Submit';
  return (
    <Step number={4} title="Submit" command={`echelon ${isSweep ? 'sweeps ' : ''}submit SPEC.yaml`}>
      {may.value('submit') ? (
        <button type="button" class="primary" disabled={busy || spec === undefined} onClick={submit}>
          {busy ? 'Submitting…' : label}
        </button>
      ) : (
        <p class="error">Your key lacks the scope submit.</p>
      )}
    </Step>
  );
}
