import type { Answer } from 'echelon-client/calls';

/** An experiment as its screen shows it. */
export type Detail = Answer<'get', '/v1/experiments/{id}'>;

/** An experiment as far as lists show it. */
interface Listed {
  id: string;
  state: string;
  verification: { status: string };
  progress: { stage: string; step: number; steps: number };
}

const FINAL = new Set(['succeeded', 'failed', 'cancelled']);

/** True when nothing of the experiment will change by itself: it has ended, and its batches are verified. */
export const isOver = ({ state, verification }: Pick<Listed, 'state' | 'verification'>): boolean =>
  FINAL.has(state) && verification.status === 'complete';

/** True when the experiment itself has ended. */
export const isFinal = (state: string): boolean => FINAL.has(state);

/** The progress in words, and as a share if the number of steps is known. */
export function progressOf({ progress, state }: Listed): { text: string; share: number | undefined } {
  const { step, steps, stage } = progress;
  if (steps > 0) return { text: `step ${step} of ${steps}`, share: step / steps };
  if (step > 0) return { text: `step ${step}`, share: undefined };
  return { text: FINAL.has(state) ? '–' : stage || '–', share: undefined };
}

/**
 * The loaded list with a new first page: entries are replaced by id, new ones come first. If the first page is the whole
 * list (`hasMore` false), entries that it lacks are gone.
 */
export function mergeNewest<T extends { id: string }>(loaded: T[], first: T[], hasMore: boolean): T[] {
  const ids = new Set(first.map(({ id }) => id));
  const rest = loaded.filter(({ id }) => !ids.has(id));
  if (!hasMore) return first;
  // Older than the last entry of the first page; an entry between them was deleted.
  const last = loaded.findIndex(({ id }) => id === first.at(-1)?.id);
  const older = last < 0 ? rest : loaded.slice(last + 1);
  return [...first, ...older.filter(({ id }) => !ids.has(id))];
}

/** An experiment as far as its need for attention depends on it. */
interface Considered {
  state: string;
  stoppedBy: unknown;
  verification: { signal: string | null };
}

/** States of an experiment that has resources of a cluster. */
export const ACTIVE = ['launching', 'running', 'cancelling'] as const;

/** The experiments that a person should look at, in the same order. Active ones are in the list of those that run. */
export const attention = <T extends Considered>(experiments: readonly T[]): T[] =>
  experiments.filter(
    ({ state, stoppedBy, verification }) =>
      !(ACTIVE as readonly string[]).includes(state) &&
      (verification.signal === 'wrong' || state === 'failed' || stoppedBy !== null),
  );

/** The experiments of all lists, once each, the newest first. */
export function newestOf<T extends { id: string; submittedAt: number }>(...lists: readonly T[][]): T[] {
  const byId = new Map(lists.flat().map((one) => [one.id, one]));
  return [...byId.values()].sort((a, b) => b.submittedAt - a.submittedAt);
}

/** By what a list of experiments can be grouped. */
export const GROUPINGS = ['sweep', 'tag', 'project', 'cluster', 'owner', 'state'] as const;

/** The heading of a group in a list. */
export interface Group {
  /** The value that its experiments share; '' if they have none. */
  group: string;
  title: string;
  size: number;
  active: number;
  wrong: number;
  isClosed: boolean;
}

interface Groupable extends Considered {
  name: string;
  sweep: string | null;
  project: string;
  cluster: string | null;
  owner: string | null;
  tags: readonly string[];
}

/** The experiments under the headings of their groups, in the order of the first of each; an experiment with two tags is in both. */
export function grouped<T extends Groupable>(
  experiments: readonly T[],
  by: (typeof GROUPINGS)[number],
  closed: ReadonlySet<string>,
): (T | Group)[] {
  const groups = new Map<string, T[]>();
  for (const one of experiments) {
    const tags = one.tags.length > 0 ? one.tags : [''];
    for (const value of by === 'tag' ? tags : [one[by] ?? '']) {
      const own = groups.get(value);
      if (own === undefined) groups.set(value, [one]);
      else own.push(one);
    }
  }
  return [...groups].flatMap(([group, own]) => [
    {
      group,
      // Children of a sweep are named `SWEEP: VALUES`.
      title: group === '' ? `no ${by}` : by === 'sweep' ? own[0]!.name.split(': ')[0]! : group,
      size: own.length,
      active: own.filter(({ state }) => (ACTIVE as readonly string[]).includes(state)).length,
      wrong: own.filter(({ verification }) => verification.signal === 'wrong').length,
      isClosed: closed.has(group),
    },
    ...(closed.has(group) ? [] : own),
  ]);
}
