import { signal } from '@preact/signals';
import { withQuery } from '../models/paths.ts';
import { SCREENS } from './screen-paths.ts';

/** Where the page is: everything that a link to it must hold. */
interface Place {
  path: string;
  query: URLSearchParams;
}

/** A page that is one file keeps its place in the fragment: browsers let a file change nothing else of its address. */
let isInFragment = false;

function here(): Place {
  const { pathname, search, hash } = location;
  if (!isInFragment) return { path: pathname, query: new URLSearchParams(search) };
  const [path, query] = hash.slice(1).split('?');
  return { path: path || '/', query: new URLSearchParams(query) };
}

/** The present place. */
export const place = signal<Place>(here());

/** Goes to a path of the dashboard. `replace`: the browser's Back does not return to the present place. */
export function navigate(href: string, options: { replace?: boolean } = {}): void {
  history[options.replace ? 'replaceState' : 'pushState'](null, '', isInFragment ? `#${href}` : href);
  const before = place.value.path;
  place.value = here();
  if (place.value.path !== before) scrollTo(0, 0);
}

/** Changes parts of the query and keeps the others; undefined and '' remove one. Default: Back does not undo it. */
export function setQuery(
  changes: Record<string, string | readonly string[] | undefined>,
  options: { push?: boolean } = {},
): void {
  const { path, query } = place.value;
  const all: Record<string, string[]> = {};
  for (const name of new Set(query.keys())) all[name] = query.getAll(name);
  navigate(withQuery(path, { ...all, ...changes }), { replace: !options.push });
}

const firstSegment = (path: string) => path.split('/')[1] ?? '';
const isOurs = (url: URL) =>
  url.origin === location.origin && (SCREENS as readonly string[]).includes(firstSegment(url.pathname));

/** For a page that is one file: its place is the fragment of its address. */
export function startInFragment(): void {
  isInFragment = true;
  const read = () => {
    place.value = here();
  };
  addEventListener('popstate', read);
  read();
}

/** Follows links between screens without loading the page again. */
export function startRouter(): void {
  addEventListener('popstate', () => {
    place.value = here();
  });
  document.addEventListener('click', (event) => {
    if (event.defaultPrevented || event.button !== 0) return;
    if (event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return;
    const link = (event.target as Element).closest('a');
    if (!link || link.target || link.hasAttribute('download') || !isOurs(new URL(link.href))) return;
    event.preventDefault();
    navigate(link.href);
  });
}
