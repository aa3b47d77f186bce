import type { StoreContext } from './context.ts';
import { readWaiting } from './line.ts';
import type { LinePlace, LineStore } from './line-store.ts';

/**
 * Projects that take turns on a page at most: the place of a page names each of them, and has to fit into the address of a
 * request.
 */
const MOST_TURNS = 50;

type Reply = [length: number, more: 0 | 1, next: string[], items: (string | number)[]];

/** See {@link LineStore.linePage}. */
export function createLinePage(context: StoreContext): Pick<LineStore, 'linePage'> {
  return {
    async linePage({ limit, project = '', from = { behind: '-inf', projects: {} } }) {
      const places = Object.entries(from.projects).flat();
      const reply = await context.run('line-page', [limit, project, MOST_TURNS, from.behind, ...places]);
      const [length, more, next, items] = reply as Reply;
      const placeOf = new Map<string, number>();
      for (let at = 0; at < items.length; at += 2) placeOf.set(String(items[at]), Number(items[at + 1]));
      const waiting = await readWaiting(context, [...placeOf.keys()]);
      return {
        length,
        waiting: waiting.map((one) => ({ ...one, place: placeOf.get(one.experiment)! })),
        next: more === 1 ? toPlace(next) : null,
      };
    },
  };
}

function toPlace([behind, ...named]: string[]): LinePlace {
  const projects: Record<string, string> = {};
  for (let at = 0; at < named.length; at += 2) projects[named[at]!] = named[at + 1]!;
  return { behind: behind!, projects };
}
