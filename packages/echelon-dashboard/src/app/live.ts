import { signal } from '@preact/signals';
import type { FeedMessage } from 'echelon-client/calls';
import { useEffect, useRef } from 'preact/hooks';
import { type Asked, createHub, type StreamState, type Told } from './hub.ts';
import hubUrl from './hub-worker.ts?sharedworker&url';
import { session } from './session.ts';
import { workerUrl } from './trusted.ts';

type Listener = (told: Told) => void;

/** How the feed's connection is. */
export const feedState = signal<{ state: StreamState; reason: string }>({ state: 'connecting', reason: '' });

const listeners = new Map<string, Set<Listener>>();
const post = typeof SharedWorker === 'undefined' ? ownHub() : sharedHub();

function tell(told: Told): void {
  for (const listener of [...(listeners.get(told.path) ?? [])]) listener(told);
}

function sharedHub(): (asked: Asked) => void {
  const { port } = new SharedWorker(workerUrl(hubUrl), { type: 'module', name: 'echelon' });
  port.onmessage = ({ data }: MessageEvent<Told>) => tell(data);
  // A closed tab says nothing by itself.
  addEventListener('pagehide', () => port.postMessage({ kind: 'bye' }));
  addEventListener('pageshow', ({ persisted }) => persisted && location.reload());
  return (asked) => port.postMessage(asked);
}

function ownHub(): (asked: Asked) => void {
  const hub = createHub();
  return (asked) => hub[asked.kind](asked, tell);
}

function listen(path: string, after: string | undefined, listener: Listener): () => void {
  const all = listeners.get(path) ?? new Set();
  listeners.set(path, all);
  all.add(listener);
  if (all.size === 1) post({ kind: 'open', path, after });
  return () => {
    all.delete(listener);
    if (all.size === 0) post({ kind: 'close', path });
  };
}

/** Calls `on` for each event of a stream while the component is shown. A path of undefined opens none. */
export function useStream(path: string | undefined, after: string | undefined, on: Listener): void {
  const latest = useRef(on);
  latest.current = on;
  useEffect(() => {
    if (path === undefined) return undefined;
    return listen(path, after, (told) => latest.current(told));
  }, [path]);
}

function feedPath(): string | undefined {
  const caller = session.value;
  if (caller === undefined) return undefined;
  return caller.project === null ? '/v1/events' : `/v1/projects/${encodeURIComponent(caller.project)}/events`;
}

/** Calls `on` for each message of the caller's feed while the component is shown. */
export function useFeed(on: (message: FeedMessage) => void): void {
  useStream(feedPath(), undefined, (told) => {
    if (told.kind === 'event') on(told.data as FeedMessage);
    else feedState.value = { state: told.state, reason: told.reason };
  });
}

/** `act` at most once each `everyMs`, the first time at once; nothing runs while the page is hidden. */
export function useThrottled(act: () => void, everyMs: number): () => void {
  const latest = useRef(act);
  latest.current = act;
  const gate = useRef({ last: 0, timer: 0 });
  useEffect(() => () => clearTimeout(gate.current.timer), []);
  const run = useRef(() => {
    const own = gate.current;
    if (own.timer !== 0) return;
    const wait = Math.max(0, own.last + everyMs - Date.now());
    own.timer = setTimeout(() => {
      own.timer = 0;
      own.last = Date.now();
      if (document.visibilityState === 'visible') latest.current();
    }, wait) as unknown as number;
  });
  return run.current;
}
