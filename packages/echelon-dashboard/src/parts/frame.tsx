import type { ComponentChildren } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { api, failureOf, isSignedOut } from '../app/api.ts';
import { feedState, useFeed } from '../app/live.ts';
import { usePolling } from '../app/resource.ts';
import { navigate, place } from '../app/router.ts';
import { session, sessionFailure, signInPath } from '../app/session.ts';
import { chooseTheme, type Theme, theme } from '../app/theme.ts';
import ICON from '../icon.svg';
import { Icon } from './icons.tsx';
import { Keys, Palette } from './palette.tsx';

const NAV: { title: string; items: [href: string, label: string, icon: string, key: string][] }[] = [
  {
    title: 'Watch',
    items: [
      ['/', 'Now', 'pulse', 'n'],
      ['/experiments', 'Experiments', 'list', 'e'],
      ['/sweeps', 'Sweeps', 'grid', 's'],
      ['/queue', 'Queue', 'queue', 'q'],
      ['/clusters', 'Clusters', 'server', 'c'],
    ],
  },
  {
    title: 'Do',
    items: [
      ['/submit', 'Submit', 'plus', 'u'],
      ['/verify', 'Verify a file', 'check', 'v'],
      ['/compare', 'Compare', 'compare', 'o'],
    ],
  },
  {
    title: 'Manage',
    items: [
      ['/rules', 'Rules', 'rule', 'r'],
      ['/notifications', 'Notifications', 'flag', 't'],
      ['/access', 'Access', 'key', 'a'],
      ['/system', 'System', 'gear', 'y'],
    ],
  },
];

const ITEMS = NAV.flatMap(({ items }) => items);

/** The navigation, the connection's state, and the screen. */
export function Frame({ children }: { children: ComponentChildren }) {
  const [open, setOpen] = useState<'palette' | 'keys'>();
  const close = () => setOpen(undefined);
  useShortcuts(setOpen);
  useFocusOnChange();
  return (
    <div class="frame">
      <a class="skip" href="#main">
        Skip to the content
      </a>
      <header class="side">
        <a class="brand" href="/">
          <img src={ICON} alt="" width="20" height="20" /> Echelon
        </a>
        <nav aria-label="Screens">
          {NAV.map(({ title, items }) => (
            <section key={title} aria-label={title}>
              {items.map((item) => (
                <NavLink key={item[0]} item={item} />
              ))}
            </section>
          ))}
        </nav>
        <div class="foot">
          <button type="button" class="link search" title="Ctrl K or ⌘ K" onClick={() => setOpen('palette')}>
            Go to… <kbd>Ctrl K</kbd>
          </button>
          <FeedStatus />
          <Caller />
        </div>
      </header>
      <main id="main" tabIndex={-1}>
        <Interrupted />
        {children}
      </main>
      {open === 'palette' && (
        <Palette screens={ITEMS.map(([href, label]) => [href, label])} onClose={close} />
      )}
      {open === 'keys' && <Keys go={ITEMS.map(([, label, , key]) => [key, label])} onClose={close} />}
    </div>
  );
}

function NavLink({ item: [href, label, icon, key] }: { item: [string, string, string, string] }) {
  const { path } = place.value;
  const isHere = href === '/' ? path === '/' : path === href || path.startsWith(`${href}/`);
  return (
    <a href={href} aria-current={isHere ? 'page' : undefined} title={`${label} (g then ${key})`}>
      <Icon name={icon} />
      <span>{label}</span>
    </a>
  );
}

const SAYS: Record<string, string> = {
  connecting: 'Connecting',
  live: 'Live',
  broken: 'Interrupted',
  ended: 'Ended',
  refused: 'Not live',
};

function FeedStatus() {
  useFeed(() => {});
  const { state, reason } = feedState.value;
  return (
    <p class={`feed muted small ${state}`} role="status" title={reason}>
      <span class="dot" aria-hidden="true" /> {SAYS[state]}
    </p>
  );
}

/** How often the server is asked whether it still knows the caller, in ms. */
const ASK_MS = 15_000;

function Interrupted() {
  const { state, reason } = feedState.value;
  const [away, setAway] = useState<string>();
  // Events do not tell that the store is away, nor why they are refused.
  const ask = () =>
    api.get('/v1/caller').then(
      () => setAway(undefined),
      (error) => setAway(failureOf(error).isTransient ? failureOf(error).message : undefined),
    );
  usePolling(() => void ask(), ASK_MS);
  useEffect(() => {
    if (state === 'refused') void ask();
  }, [state]);
  if (isSignedOut.value && sessionFailure.value === undefined)
    return (
      <p class="banner bad" role="alert">
        <strong>Your session has ended</strong>: it has expired, or its key was revoked. What you see is old.{' '}
        <a href={signInPath()}>Sign in again</a>
      </p>
    );
  if (state !== 'broken' && away !== undefined)
    return (
      <p class="banner warn" role="status">
        {away} What you see may be old. The page asks again by itself.
      </p>
    );
  if (state !== 'broken' && state !== 'refused') return null;
  return (
    <p class="banner warn" role="status">
      {state === 'broken'
        ? 'The event stream is interrupted; what you see may be old. Connecting again…'
        : `Events are not received: ${reason} Reload the page to try again.`}
    </p>
  );
}

function Caller() {
  const caller = session.value;
  return (
    <details class="caller">
      <summary>
        <Icon name="user" />
        <span>{caller?.name || 'Session'}</span>
      </summary>
      <div class="menu">
        <p class="muted">
          {caller?.project === null ? 'all projects' : `project ${caller?.project ?? ''}`}
          <br />
          {caller?.scopes.join(', ')}
        </p>
        <label>
          Theme{' '}
          <select value={theme.value} onChange={(event) => chooseTheme(event.currentTarget.value as Theme)}>
            <option value="system">as the system</option>
            <option value="light">light</option>
            <option value="dark">dark</option>
          </select>
        </label>
        <form method="post" action="/logout">
          <button type="submit">Sign out</button>
        </form>
      </div>
    </details>
  );
}

/** `g` and a letter go to a screen; `/` goes to the filter of a list; Ctrl K and `?` open their dialogs. */
function useShortcuts(onOpen: (dialog: 'palette' | 'keys') => void): void {
  useEffect(() => {
    let afterG = 0;
    const onKey = (event: KeyboardEvent) => {
      const target = event.target as HTMLElement;
      if (event.key === 'k' && (event.ctrlKey || event.metaKey) && !target.closest('dialog')) {
        event.preventDefault();
        onOpen('palette');
        return;
      }
      if (event.metaKey || event.ctrlKey || event.altKey || target.closest('input, textarea, select, dialog'))
        return;
      if (event.key === '/') {
        const filter = document.querySelector<HTMLElement>('[data-filter]');
        if (filter) event.preventDefault();
        filter?.focus();
      }
      if (event.key === '?') onOpen('keys');
      if (event.key === 'g') {
        afterG = Date.now();
        return;
      }
      if (Date.now() - afterG > 1500) return;
      afterG = 0;
      const item = ITEMS.find(([, , , key]) => key === event.key);
      if (item) navigate(item[0]);
    };
    document.addEventListener('keydown', onKey);
    return () => document.removeEventListener('keydown', onKey);
  }, []);
}

/** A new screen takes the focus, as a new page would. */
function useFocusOnChange(): void {
  const { path } = place.value;
  const last = useRef(path);
  useEffect(() => {
    if (last.current === path) return;
    last.current = path;
    document.querySelector<HTMLElement>('#main')?.focus({ preventScroll: true });
  }, [path]);
}
