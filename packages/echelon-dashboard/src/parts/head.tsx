import type { ComponentChildren } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { inert } from '../models/words.ts';
import { Icon } from './icons.tsx';

interface HeadProps {
  title: string;
  /** Links to the screens above this one. */
  path?: [href: string, label: string][];
  /** The command that shows the same in a terminal. */
  command?: string;
  /** Beside the title: the state. */
  children?: ComponentChildren;
  actions?: ComponentChildren;
}

/** The head of a screen; its title is also the window's. */
export function Head({ title, path = [], command, children, actions }: HeadProps) {
  useEffect(() => {
    document.title = `${title} · Echelon`;
  }, [title]);
  return (
    <div class="head">
      {path.length > 0 && (
        <nav class="crumbs small" aria-label="Above this screen">
          {path.map(([href, label]) => (
            <a key={href} href={href}>
              {label}
            </a>
          ))}
        </nav>
      )}
      <div class="title">
        <h1>{title}</h1>
        {children}
        {actions && <div class="actions">{actions}</div>}
      </div>
      {command && <Command text={command} />}
    </div>
  );
}

/** A command to copy. */
export function Command({ text: asked }: { text: string }) {
  // A copied text must not do more in a terminal than it shows.
  const text = inert(asked);
  const [copied, setCopied] = useState(false);
  const copy = async () => {
    await navigator.clipboard?.writeText(text).catch(() => undefined);
    setCopied(true);
    setTimeout(() => setCopied(false), 1500);
  };
  return (
    <button type="button" class="command" onClick={copy} title="The same in a terminal; click to copy">
      <code>{text}</code>
      {copied ? <span>copied</span> : <Icon name="copy" />}
    </button>
  );
}
