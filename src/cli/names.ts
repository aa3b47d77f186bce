import { CliError, EXIT } from 'command-kit/exit';
import { inert } from 'command-kit/inert';
import { shortened } from 'command-kit/width';
import { EXPERIMENT_ID, SWEEP_ID } from '../core/ids.ts';
import { type Client, MAX_PAGE } from './client.ts';
import { duration } from './states.ts';

/** How a help text describes an argument that names an experiment or a sweep. */
export const NAME_FORMS = 'id, unique prefix of an id, name, or @last';

/** What a name on the command line can mean. */
type Kind = 'experiment' | 'sweep';

/** The resource that a name means. */
export interface Named {
  kind: Kind;
  id: string;
}

/** Pages of the API that are searched for a name. */
const MAX_PAGES = { experiment: 20, sweep: 10 } as const;
/** Characters of a name; a text with more is none. */
const MAX_NAME = 100;
/** Candidates that an error lists. */
const MAX_SHOWN = 5;

type Candidate = Named & { name: string; state: string; createdAt: number };

/**
 * The experiment or sweep that `text` means: by its id, without a request; by a prefix of its id; by its whole name; or as
 * `@last`, the newest one that the caller sees (an experiment, if both kinds are possible). Throws a {@link CliError} if
 * `text` means none or several.
 */
export async function named(client: Client, text: string, kinds: readonly Kind[]): Promise<Named> {
  // The API refuses the id of the wrong kind, with a hint.
  if (EXPERIMENT_ID.test(text) || SWEEP_ID.test(text))
    return { kind: kinds.length > 1 && SWEEP_ID.test(text) ? 'sweep' : kinds[0]!, id: text };
  const found: Candidate[] = [];
  for (const kind of text === '@last' ? kinds.slice(0, 1) : kinds)
    found.push(...(kind === 'experiment' ? await experiments(client, text) : await sweeps(client, text)));
  const [only] = found;
  if (only !== undefined && found.length === 1) return { kind: only.kind, id: only.id };
  throw only === undefined ? notFound(text, kinds) : ambiguous(text, found, client.now());
}

/** The id of the experiment that `text` means; see {@link named}. */
export async function experimentNamed(client: Client, text: string): Promise<string> {
  return (await named(client, text, ['experiment'])).id;
}

/** The id of the sweep that `text` means; see {@link named}. */
export async function sweepNamed(client: Client, text: string): Promise<string> {
  return (await named(client, text, ['sweep'])).id;
}

/** `text` as a prefix of an id, with or without the four characters of its kind; undefined if it cannot be one. */
function idPrefix(text: string, prefix: 'exp-' | 'swp-'): string | undefined {
  const rest = text.startsWith(prefix) ? text.slice(prefix.length) : text;
  return /^[0-9a-z]{4,20}$/.test(rest) ? `${prefix}${rest}` : undefined;
}

async function experiments(client: Client, text: string): Promise<Candidate[]> {
  const list = (query: { limit: number; id?: string; name?: string }, isWanted = (_name: string) => true) =>
    firstTwo({
      pages: MAX_PAGES.experiment,
      read: (cursor) => client.get('/v1/experiments', { query: { ...query, cursor } }),
      isWanted: ({ name }) => isWanted(name),
    });
  const isLast = text === '@last';
  const id = idPrefix(text, 'exp-');
  const found = [
    ...(isLast ? await list({ limit: 1 }) : []),
    ...(id === undefined ? [] : await list({ id, limit: MAX_SHOWN })),
    ...(isLast || [...text].length > MAX_NAME || text === ''
      ? []
      : await list({ name: text, limit: 50 }, (name) => name === text)),
  ];
  const candidates = found.map(({ id, name, state, submittedAt: createdAt }) => ({
    kind: 'experiment' as const,
    id,
    name,
    state,
    createdAt,
  }));
  return distinct(isLast ? candidates.slice(0, 1) : candidates);
}

async function sweeps(client: Client, text: string): Promise<Candidate[]> {
  const prefix = idPrefix(text, 'swp-');
  const isLast = text === '@last';
  const found = await firstTwo({
    pages: MAX_PAGES.sweep,
    read: (cursor) => client.get('/v1/sweeps', { query: { limit: isLast ? 1 : MAX_PAGE, cursor } }),
    isWanted: ({ id, name }) => isLast || name === text || (prefix !== undefined && id.startsWith(prefix)),
  });
  const candidates = found.map(({ id, name, state, createdAt }) => ({
    kind: 'sweep' as const,
    id,
    name,
    state,
    createdAt,
  }));
  return distinct(isLast ? candidates.slice(0, 1) : candidates);
}

/** Reads pages until two wanted entries are found: a name must have exactly one. */
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

/** A text can be both the name and a prefix of the id of one resource. */
function distinct(candidates: Candidate[]): Candidate[] {
  return [...new Map(candidates.map((one) => [one.id, one])).values()];
}

function notFound(text: string, kinds: readonly Kind[]): CliError {
  const what = kinds.join(' or ');
  const lists = kinds.map((kind) => (kind === 'experiment' ? '`echelon ls`' : '`echelon sweeps`'));
  const message =
    text === '@last'
      ? `There is no ${what} yet.`
      : `There is no ${what} ${JSON.stringify(inert(text))}. List names and ids with ${lists.join(' or ')}.`;
  return new CliError(EXIT.refused, message, 'not-found');
}

function ambiguous(text: string, found: readonly Candidate[], now: number): CliError {
  const lines = found
    .slice(0, MAX_SHOWN)
    .map(
      ({ id, name, state, createdAt }) =>
        `\n  ${id}  ${state}, ${duration(now - createdAt)} old  ${shortened(name, 32)}`,
    );
  return new CliError(
    EXIT.usage,
    `${JSON.stringify(text)} matches several. Give the id of one of them:${lines.join('')}`,
    'ambiguous',
  );
}
