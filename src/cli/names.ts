import { EXPERIMENT_ID } from '../core/ids.ts';
import { SWEEP_ID } from '../core/sweep-ids.ts';
import type { Experiment } from '../schemas/experiment.ts';
import type { Sweep, SweepPage } from '../schemas/sweep.ts';
import type { Client } from './client.ts';
import { CliError, EXIT } from './exit.ts';
import { duration, inert } from './output.ts';
import { shortened } from './shortened.ts';

/** How the help of a command says what names an experiment or a sweep. */
export const NAMES_IT = 'id, unique start of an id, name, or @last';

/** What a name on the command line can mean. */
export type Kind = 'experiment' | 'sweep';

/** The thing that a name means. */
export interface Named {
  kind: Kind;
  id: string;
}

/** What is looked through for a name, as pages of the API: 20 for experiments, 10 for sweeps. */
const PAGES = { experiment: 20, sweep: 10 } as const;
/** Candidates that an error lists. */
const SHOWN = 5;

type Candidate = Named & { name: string; state: string; madeAt: number };

/**
 * The experiment or sweep that `text` means: by its id, which is not looked up; by the start of its id, by its whole
 * name, or as @last, the newest one that the caller sees (of experiments, where both kinds are possible). Throws a
 * {@link CliError} where it means none or several.
 */
export async function named(client: Client, text: string, kinds: readonly Kind[]): Promise<Named> {
  // The id of another kind is refused by the API, with what to do.
  if (EXPERIMENT_ID.test(text) || SWEEP_ID.test(text))
    return { kind: kinds.length > 1 && SWEEP_ID.test(text) ? 'sweep' : kinds[0]!, id: text };
  const found: Candidate[] = [];
  for (const kind of text === '@last' ? kinds.slice(0, 1) : kinds)
    found.push(...(kind === 'experiment' ? await experiments(client, text) : await sweeps(client, text)));
  const [only] = found;
  if (only !== undefined && found.length === 1) return { kind: only.kind, id: only.id };
  throw only === undefined ? absent(text, kinds) : ambiguous(text, found);
}

/** The id of the experiment that `text` means; see {@link named}. */
export async function experimentNamed(client: Client, text: string): Promise<string> {
  return (await named(client, text, ['experiment'])).id;
}

/** The id of the sweep that `text` means; see {@link named}. */
export async function sweepNamed(client: Client, text: string): Promise<string> {
  return (await named(client, text, ['sweep'])).id;
}

/** The start of an id of this kind, where `text` can be one; its first four characters may be missing. */
function startOf(text: string, prefix: 'exp-' | 'swp-'): string | undefined {
  const rest = text.startsWith(prefix) ? text.slice(prefix.length) : text;
  return /^[0-9a-z]{4,20}$/.test(rest) ? `${prefix}${rest}` : undefined;
}

async function experiments(client: Client, text: string): Promise<Candidate[]> {
  const list = (query: Record<string, string | number>, isWanted: (one: Experiment) => boolean) =>
    firstTwo({
      pages: PAGES.experiment,
      read: (cursor) =>
        client.get<{ items: Experiment[]; next: string | null }>('/v1/experiments', { ...query, cursor }),
      isWanted,
    });
  const start = startOf(text, 'exp-');
  const found = [
    ...(text === '@last' ? await list({ limit: 1 }, () => true) : []),
    ...(start === undefined ? [] : await list({ id: start, limit: SHOWN }, () => true)),
    ...(text === '@last' || text.length > 100 || text === ''
      ? []
      : await list({ name: text, limit: 50 }, ({ name }) => name === text)),
  ];
  const kind = 'experiment' as const;
  const candidates = found.map(({ id, name, state, submittedAt: madeAt }) => ({
    kind,
    id,
    name,
    state,
    madeAt,
  }));
  return once(text === '@last' ? candidates.slice(0, 1) : candidates);
}

async function sweeps(client: Client, text: string): Promise<Candidate[]> {
  const start = startOf(text, 'swp-');
  const isLast = text === '@last';
  const found = await firstTwo<Sweep>({
    pages: PAGES.sweep,
    read: (cursor) => client.get<SweepPage>('/v1/sweeps', { limit: isLast ? 1 : 200, cursor }),
    isWanted: ({ id, name }) => isLast || name === text || (start !== undefined && id.startsWith(start)),
  });
  const kind = 'sweep' as const;
  return once(
    found
      .slice(0, isLast ? 1 : found.length)
      .map(({ id, name, state, createdAt: madeAt }) => ({ kind, id, name, state, madeAt })),
  );
}

/** Reads pages until two are found that are wanted: what is named must be the only one. */
async function firstTwo<T>({
  pages,
  read,
  isWanted,
}: {
  pages: number;
  read: (cursor: string | undefined) => Promise<{ items: T[]; next: string | null }>;
  isWanted: (one: T) => boolean;
}): Promise<T[]> {
  const found: T[] = [];
  let cursor: string | undefined;
  for (let page = 0; page < pages; page++) {
    const { items, next } = await read(cursor);
    found.push(...items.filter(isWanted));
    if (found.length > 1 || next === null) break;
    cursor = next;
  }
  return found;
}

/** What has the text both as a name and as the start of its id is one. */
function once(candidates: Candidate[]): Candidate[] {
  return [...new Map(candidates.map((one) => [one.id, one])).values()];
}

function absent(text: string, kinds: readonly Kind[]): CliError {
  const what = kinds.join(' or ');
  const lists = kinds
    .map((kind) => (kind === 'experiment' ? '`echelon ls`' : '`echelon sweep ls`'))
    .join(', ');
  const message =
    text === '@last'
      ? `There is no ${what} yet.`
      : `There is no ${what} ${JSON.stringify(inert(text))}; ${lists} shows names and ids.`;
  return new CliError(EXIT.refused, message, 'not-found');
}

function ambiguous(text: string, found: readonly Candidate[]): CliError {
  const lines = found
    .slice(0, SHOWN)
    .map(
      ({ id, name, state, madeAt }) =>
        `\n  ${id}  ${state}, ${duration(Date.now() - madeAt)} old  ${shortened(name, 32)}`,
    );
  return new CliError(
    EXIT.usage,
    `${JSON.stringify(text)} means more than one; name one of them by its id:${lines.join('')}`,
    'ambiguous',
  );
}
