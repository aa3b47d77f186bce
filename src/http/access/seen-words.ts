import type { Caller } from '../../core/scopes.ts';
import type { Store } from '../../store/store.ts';

/** An experiment's id wherever it stands in a sentence. */
const IDS = /\bexp-[0-9a-hjkmnp-tv-z]{20}\b/g;

/** Sentences as one caller may read them. */
export type SeenWords = <T extends string | null>(words: T) => Promise<T>;

/**
 * Why an experiment waits is said of the whole line, and names those in its way: for a caller that is bound to a project
 * the ones of others are not named. Asks the store once for each experiment that is named.
 */
export function seenWords(store: Pick<Store, 'projects'>, { project }: Pick<Caller, 'project'>): SeenWords {
  if (project === null) return async (words) => words;
  const own = new Map<string, Promise<boolean>>();
  return async (words) => {
    if (words === null) return words;
    let seen: string = words;
    for (const id of new Set(words.match(IDS))) {
      const isOwn = own.get(id) ?? store.projects.contains(project, id);
      own.set(id, isOwn);
      if (!(await isOwn)) seen = seen.replaceAll(id, 'an experiment of another project');
    }
    return seen as typeof words;
  };
}
