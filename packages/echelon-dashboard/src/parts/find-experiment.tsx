import { useEffect, useId, useState } from 'preact/hooks';
import { api } from '../app/api.ts';
import { rest, useResource } from '../app/resource.ts';
import { inert } from '../models/words.ts';

interface FindProps {
  label: string;
  /** Ids that are not offered. */
  not: readonly string[];
  disabled?: boolean;
  onChoose: (id: string) => void;
}

/** The experiments that a text finds, the running and the newest first. */
export const useFound = (text: string) =>
  useResource(
    async (signal) => {
      await rest(120, signal);
      const query = { search: text.trim() || undefined, sort: 'active', limit: 20 };
      return (await api.get('/v1/experiments', { query, signal })).items;
    },
    ['found', text.trim()],
  );

/** A search for an experiment to choose. */
export function FindExperiment({ label, not, disabled, onChoose }: FindProps) {
  const [text, setText] = useState('');
  const list = useId();
  const items = (useFound(text).data ?? []).filter(({ id }) => !not.includes(id));
  // Whether it was picked from the list, typed or pasted.
  const chosen = items.find(({ id }) => id === text.trim())?.id;
  useEffect(() => {
    if (chosen === undefined) return;
    setText('');
    onChoose(chosen);
  }, [chosen]);
  return (
    <>
      <input
        type="search"
        list={list}
        aria-label={label}
        placeholder={`${label}…`}
        value={text}
        disabled={disabled}
        onInput={(event) => setText(event.currentTarget.value)}
      />
      <datalist id={list}>
        {items.map(({ id, name, state }) => (
          <option key={id} value={id}>
            {inert(name)}, {state}
          </option>
        ))}
      </datalist>
    </>
  );
}
