import type { Answer } from 'echelon-client/calls';
import { useState } from 'preact/hooks';
import { api } from '../../app/api.ts';
import { rest, useResource } from '../../app/resource.ts';
import { inert } from '../../models/words.ts';
import { Confirm } from '../../parts/dialog.tsx';
import { Command } from '../../parts/head.tsx';
import { WhatIfAnswer } from '../../parts/what-if.tsx';

type Item = Answer<'get', '/v1/queues'>['items'][number];

/** Changes the priority of a queued experiment, and shows before what it would change. */
export function PriorityButton({ item, onChange }: { item: Item; onChange: () => void }) {
  const { experiment, name, priority: old } = item;
  const [text, setText] = useState(String(old));
  const priority = Number(text);
  const isValid = /^-?\d{1,3}$/.test(text) && Math.abs(priority) <= 100;
  const act = async () => {
    await api.patch('/v1/experiments/{id}', { path: { id: experiment }, body: { priority } });
    onChange();
  };
  return (
    <Confirm
      label={String(old)}
      name={`Priority ${old} of ${inert(name)}: change`}
      title={`Priority of ${inert(name)}`}
      verb="Change the priority"
      isReady={isValid && priority !== old}
      act={act}
    >
      <label>
        From -100 to 100; higher starts first{' '}
        <input
          type="number"
          class="tiny"
          min={-100}
          max={100}
          value={text}
          onInput={(event) => setText(event.currentTarget.value)}
        />
      </label>
      <div class="preview" aria-live="polite">
        {isValid ? (
          <Preview experiment={experiment} priority={priority} />
        ) : (
          <p class="error">Give a whole number from -100 to 100.</p>
        )}
      </div>
      <Command text={`echelon update ${experiment} --priority ${isValid ? priority : 'PRIORITY'}`} />
    </Confirm>
  );
}

function Preview({ experiment, priority }: { experiment: string; priority: number }) {
  const asked = useResource(
    async (signal) => {
      await rest(200, signal);
      return api.post('/v1/queues/what-if', { body: { experiment, priority }, signal });
    },
    [experiment, priority],
  );
  if (asked.failure) return <p class="error">{asked.failure.message}</p>;
  return asked.data ? <WhatIfAnswer found={asked.data} /> : <p class="muted">Asking the scheduler…</p>;
}
