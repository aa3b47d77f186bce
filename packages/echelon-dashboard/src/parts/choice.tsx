import { setQuery } from '../app/router.ts';
import { inert } from '../models/words.ts';

interface ChoiceProps {
  label: string;
  /** The part of the query that it sets. */
  name: string;
  value: string | undefined;
  options: readonly string[];
  /** The words for no choice. */
  none?: string;
}

/** A choice that the address keeps. */
export function Choice({ label, name, value, options, none }: ChoiceProps) {
  return (
    <label>
      {label}{' '}
      <select value={value ?? ''} onChange={(event) => setQuery({ [name]: event.currentTarget.value })}>
        {none !== undefined && <option value="">{none}</option>}
        {options.map((option) => (
          <option key={option} value={option}>
            {inert(option)}
          </option>
        ))}
      </select>
    </label>
  );
}
