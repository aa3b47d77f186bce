import { useEffect, useLayoutEffect, useRef } from 'preact/hooks';
import { setQuery } from '../app/router.ts';
import { inert } from '../models/words.ts';

interface Option {
  value: string;
  label: string;
  /** The heading under which the list has it. Default: none; such options come first. */
  group?: string | undefined;
}

interface ChoiceProps {
  label: string;
  /** The part of the query that it sets. */
  name?: string;
  value?: string | undefined;
  options: readonly (string | Option)[];
  /** The words for no choice. */
  none?: string;
  disabled?: boolean;
  /** Default: the choice is kept in the address. */
  onChoose?: (value: string) => void;
}

/** A choice among options. */
export function Choice({ label, name = '', value = '', options, none, disabled, onChoose }: ChoiceProps) {
  const choose = onChoose ?? ((to: string) => setQuery({ [name]: to }));
  const all = options.map((one): Option => (typeof one === 'string' ? { value: one, label: one } : one));
  const groups = Map.groupBy(all, ({ group = '' }) => group);
  const item = ({ value, label }: Option) => (
    <option key={value} value={value}>
      {inert(label)}
    </option>
  );
  return (
    <label>
      {label}{' '}
      <select value={value} disabled={disabled} onChange={(event) => choose(event.currentTarget.value)}>
        {none !== undefined && <option value="">{none}</option>}
        {[...groups].map(([group, own]) =>
          group === '' ? own.map(item) : <optgroup label={group}>{own.map(item)}</optgroup>,
        )}
      </select>
    </label>
  );
}

interface SearchProps {
  label: string;
  hint: string;
  name: string;
  value: string | undefined;
  class?: string;
  /** The key `/` goes there. */
  'data-filter'?: boolean;
}

/** A text to search for, which the address keeps. */
export function Search({ label, hint, name, value = '', ...rest }: SearchProps) {
  const input = useRef<HTMLInputElement>(null);
  const sent = useRef<string>(undefined);
  const timer = useRef(0);
  // As a property, each render of the screen would take back the text that the user is typing.
  useLayoutEffect(() => {
    if (value !== sent.current) input.current!.value = value;
    sent.current = value;
  }, [value]);
  const send = () => {
    clearTimeout(timer.current);
    sent.current = input.current!.value;
    setQuery({ [name]: sent.current });
  };
  // Searches while the user is typing.
  const soon = () => {
    clearTimeout(timer.current);
    timer.current = setTimeout(send, 200) as unknown as number;
  };
  useEffect(() => () => clearTimeout(timer.current), []);
  return (
    <input
      ref={input}
      type="search"
      aria-label={label}
      placeholder={hint}
      onInput={soon}
      onChange={send}
      {...rest}
    />
  );
}

interface ChipsProps<T> {
  options: readonly T[];
  labelOf: (option: T) => string;
  isOn: (option: T) => boolean;
  onToggle: (option: T) => void;
}

/** Options of which each is on or off. */
export function Chips<T>({ options, labelOf, isOn, onToggle }: ChipsProps<T>) {
  return (
    <div class="chips">
      {options.map((option) => (
        <button
          key={labelOf(option)}
          type="button"
          aria-pressed={isOn(option)}
          onClick={() => onToggle(option)}
        >
          {labelOf(option)}
        </button>
      ))}
    </div>
  );
}
