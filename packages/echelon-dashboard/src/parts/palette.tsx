import { useState } from 'preact/hooks';
import { navigate } from '../app/router.ts';
import { inert } from '../models/words.ts';
import { Modal } from './dialog.tsx';
import { useFound } from './find-experiment.tsx';

interface PaletteProps {
  screens: readonly (readonly [href: string, label: string])[];
  onClose: () => void;
}

/** Goes to a screen or an experiment by a part of its name. */
export function Palette({ screens, onClose }: PaletteProps) {
  const [text, setText] = useState('');
  const [chosen, setChosen] = useState(0);
  const found = useFound(text);
  const part = text.trim().toLowerCase();
  const entries = [
    ...screens
      .filter(([, label]) => label.toLowerCase().includes(part))
      .map(([href, label]) => ({ href, label, note: 'screen' })),
    ...(found.data ?? []).map(({ id, name, state }) => ({
      href: `/experiments/${id}`,
      label: inert(name),
      note: `${state} · ${id}`,
    })),
  ].slice(0, 12);
  const at = Math.min(chosen, entries.length - 1);
  const go = (href: string | undefined) => {
    if (href === undefined) return;
    onClose();
    navigate(href);
  };
  const onKeyDown = (event: KeyboardEvent) => {
    const by = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (by !== undefined) setChosen(Math.max(0, Math.min(entries.length - 1, at + by)));
    else if (event.key === 'Enter') go(entries[at]?.href);
    else return;
    event.preventDefault();
  };
  return (
    <Modal label="Go to" class="palette" onClose={onClose}>
      <input
        role="combobox"
        aria-label="A screen or an experiment"
        aria-expanded="true"
        aria-controls="palette-list"
        aria-activedescendant={entries.length > 0 ? `palette-${at}` : undefined}
        placeholder="Go to a screen or an experiment…"
        value={text}
        onInput={(event) => {
          setText(event.currentTarget.value);
          setChosen(0);
        }}
        onKeyDown={onKeyDown}
      />
      <div role="listbox" id="palette-list" aria-label="Found">
        {entries.map(({ href, label, note }, index) => (
          // The keys of the field act for its options.
          <div
            key={href}
            id={`palette-${index}`}
            role="option"
            tabIndex={-1}
            aria-selected={index === at}
            onClick={() => go(href)}
          >
            <span class="clip">{label}</span> <span class="muted small">{note}</span>
          </div>
        ))}
      </div>
      {entries.length === 0 && <p class="muted">{found.loading ? 'Searching…' : 'Nothing is found.'}</p>}
    </Modal>
  );
}

/** The keys of all screens, as the guide lists them. */
export function Keys({
  go,
  onClose,
}: {
  go: readonly (readonly [key: string, label: string])[];
  onClose: () => void;
}) {
  const keys: (readonly [string, string])[] = [
    ['Ctrl K or ⌘ K', 'go to a screen or an experiment'],
    ['/', 'search this screen'],
    ['?', 'show these keys'],
    ...go.map(([key, label]) => [`g ${key}`, label] as const),
    ['↑ ↓', 'previous and next row of a heat map'],
    ['j k', 'next and previous step of a trajectory'],
    ['[ ]', 'previous and next trajectory of the group'],
    ['Escape', 'close a panel or a dialog'],
  ];
  return (
    <Modal label="Keys" onClose={onClose}>
      <h2>Keys</h2>
      <dl class="keys">
        {keys.map(([key, effect]) => (
          <div key={key}>
            <dt>
              <kbd>{key}</kbd>
            </dt>
            <dd>{effect}</dd>
          </div>
        ))}
      </dl>
      <form method="dialog" class="buttons">
        <button type="submit">Close</button>
      </form>
    </Modal>
  );
}
