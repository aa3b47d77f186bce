import { EchelonError } from '../../core/errors.ts';
import type { State } from '../../core/states.ts';
import type { Experiment } from '../../schemas/experiment.ts';
import type { StoreContext } from '../redis/context.ts';
import type { Keys } from '../redis/keys.ts';
import { type ExperimentFilter, type ExperimentOrder, SORT_FIELDS } from './types.ts';

/**
 * MAX records that one step examines, and MAX steps of one call: the cost of a filter without a match. Redis serves other
 * clients between two steps.
 */
const RECORDS_PER_STEP = 250;
const STEPS = 10;
/** The same effort if the id alone excludes nearly all records. */
const IDS_PER_STEP = 5000;

/** Fields that count rows by outcome. */
const COUNTERS = { wrong: 'vWrong', unverifiable: 'vUnverifiable', rounding: 'vRounding' } as const;

/** Reads whole records, in the order of `ids`. */
type GetAll = (ids: readonly string[]) => Promise<(Experiment | undefined)[]>;

/** Order of `active`: the states of each part of the list. */
const BY_ACTIVITY: readonly (readonly State[])[] = [
  ['launching', 'running', 'cancelling'],
  ['queued'],
  ['succeeded', 'failed', 'cancelled'],
];
/** MAX experiments that an order by value examines, the newest ones. */
const SORTED = 10_000;

interface ListInput extends ExperimentFilter {
  limit: number;
  before?: string;
}

interface ListPage {
  items: Experiment[];
  next: string | null;
  /** Number of experiments that were sorted by a value; null in the other orders. */
  sorted: number | null;
}

/** Lists of experiments by indexes and filters, newest first or in another order. */
export function createList(context: StoreContext, getAll: GetAll) {
  const reader = { context, getAll };
  return {
    /**
     * One call examines at most 2,500 records, one step of Redis 250; with `idPrefix` 20 times as many. A page may therefore
     * have fewer items than `limit`, or none, and still have a `next`. An order by value examines the newest 10,000 records,
     * and its pages are full.
     */
    async list(
      input: ListInput,
      order: ExperimentOrder = { by: 'submitted', isDescending: true },
    ): Promise<ListPage> {
      if (order.by === 'active') return activeFirst(reader, input);
      if (order.by === 'submitted' && order.isDescending) return newest(reader, input);
      return byValue(reader, input, order);
    },
  };
}

interface Reader {
  context: StoreContext;
  getAll: GetAll;
}

/** An experiment that has moved on since, or was deleted, belongs to another list by now. */
async function present({ getAll }: Reader, ids: readonly string[], state: ExperimentFilter['state']) {
  const found = await getAll(ids);
  return found.filter((item): item is Experiment => item !== undefined && isWanted(item.state, state));
}

async function newest(reader: Reader, { limit, before, ...filter }: ListInput): Promise<ListPage> {
  if (limit <= 0) return { items: [], next: null, sorted: null };
  const query = queryOf(reader.context, filter);
  const ids: string[] = [];
  let below = before === undefined ? '+inf' : readCursor(before);
  for (let step = 0; step < STEPS && below !== '' && ids.length < limit; step++) {
    const wanted = limit - ids.length;
    const reply = await reader.context.run('list', [JSON.stringify({ ...query, below, wanted })]);
    const [next, ...found] = reply as [string, ...string[]];
    ids.push(...found.filter((_value, at) => at % 2 === 0));
    below = next;
  }
  const items = await present(reader, ids, filter.state);
  return { items, next: below === '' ? null : writeCursor(below), sorted: null };
}

/** The parts of {@link BY_ACTIVITY} one after another; a cursor has the part and the place in it. */
async function activeFirst(reader: Reader, { limit, before, ...filter }: ListInput): Promise<ListPage> {
  const items: Experiment[] = [];
  let [part, place] = (before === undefined ? [0] : JSON.parse(before)) as [number, string?];
  for (; part < BY_ACTIVITY.length; part++, place = undefined) {
    const state = BY_ACTIVITY[part]!.filter((one) => isWanted(one, filter.state));
    if (state.length === 0) continue;
    const more = limit - items.length;
    if (more === 0) return { items, next: JSON.stringify([part]), sorted: null };
    const page = await newest(reader, { ...filter, state, limit: more, ...(place && { before: place }) });
    items.push(...page.items);
    if (page.next !== null) return { items, next: JSON.stringify([part, page.next]), sorted: null };
  }
  return { items, next: null, sorted: null };
}

/** A cursor has the value and the arrival of the last item. */
async function byValue(
  reader: Reader,
  { limit, before, ...filter }: ListInput,
  order: ExperimentOrder,
): Promise<ListPage> {
  const entries = await sortable(reader.context, filter, order.by);
  const compare = (a: SortEntry, b: SortEntry) => compareEntries(a, b, order.isDescending);
  const last = before === undefined ? undefined : (JSON.parse(before) as SortEntry);
  const rest = entries.filter((one) => last === undefined || compare(last, one) < 0).toSorted(compare);
  const ids = rest.slice(0, limit).map(({ id }) => id);
  const items = await present(reader, ids, filter.state);
  return {
    items,
    next: rest.length > limit ? JSON.stringify(rest[limit - 1]) : null,
    sorted: entries.length,
  };
}

/** The filter as the script takes it. */
function queryOf(context: StoreContext, filter: ExperimentFilter) {
  return {
    ...placesOf(context, filter),
    effort: filter.idPrefix ? IDS_PER_STEP : RECORDS_PER_STEP,
    sweep: filter.sweep,
    namePrefix: filter.namePrefix || undefined,
    from: filter.submittedFrom,
    before: filter.submittedBefore,
    idPrefix: filter.idPrefix || undefined,
    counter: filter.outcome && COUNTERS[filter.outcome],
    fingerprintPrefix: filter.fingerprintPrefix || undefined,
    // As Lua writes it in lower case.
    search: filter.search?.replaceAll(/[A-Z]/g, (letter) => letter.toLowerCase()) || undefined,
    tag: filter.tag,
  };
}

interface SortEntry {
  id: string;
  arrival: number;
  /** Null: it has no value, and comes last in either direction. */
  value: string | number | null;
}

/** The experiments that match, with the values by which they are sorted. */
async function sortable(
  context: StoreContext,
  filter: ExperimentFilter,
  by: ExperimentOrder['by'],
): Promise<SortEntry[]> {
  const fields = by.startsWith('metric:')
    ? [by.slice(7)]
    : (SORT_FIELDS[by as keyof typeof SORT_FIELDS] ?? []);
  const sortBy = [by.startsWith('metric:') ? ':metrics' : '', ...(fields.length > 0 ? fields : ['seq'])];
  const size = sortBy.length + 1;
  const query = { ...queryOf(context, filter), sortBy, wanted: RECORDS_PER_STEP };
  const entries: SortEntry[] = [];
  for (let step = 0, below = '+inf'; step < SORTED / RECORDS_PER_STEP && below !== ''; step++) {
    const reply = (await context.run('list', [JSON.stringify({ ...query, below })])) as string[];
    for (let at = 1; at < reply.length; at += size) {
      const [id = '', arrival, ...values] = reply.slice(at, at + size);
      entries.push({ id, arrival: Number(arrival), value: sortValue(by, values) });
    }
    below = reply[0]!;
  }
  return entries;
}

const TEXTS: ReadonlySet<string> = new Set(['name', 'project', 'owner', 'cluster', 'sweep']);

function sortValue(by: ExperimentOrder['by'], [first = '', second = '']: string[]): SortEntry['value'] {
  if (TEXTS.has(by)) return first.toLowerCase() || null;
  const stored = first === '' ? Number.NaN : Number(first);
  let value = stored;
  if (by === 'duration') value = (second === '' ? Date.now() : Number(second)) - stored;
  if (by === 'progress') value = stored / Number(second);
  return Number.isFinite(value) ? value : null;
}

function compareEntries(a: SortEntry, b: SortEntry, isDescending: boolean): number {
  if (a.value !== b.value) {
    if (a.value === null) return 1;
    if (b.value === null) return -1;
    return a.value < b.value !== isDescending ? -1 : 1;
  }
  return b.arrival - a.arrival;
}

function statesOf(state: ExperimentFilter['state']): readonly State[] {
  return state === undefined ? [] : typeof state === 'string' ? [state] : state;
}

function isWanted(state: State, wanted: ExperimentFilter['state']): boolean {
  const states = statesOf(wanted);
  return states.length === 0 || states.includes(state);
}

/** Where to look, as the script takes it: names of indexes without the root, and what these do not settle. */
function placesOf({ keys }: StoreContext, { project, state, sweep }: ExperimentFilter) {
  const states = [...new Set(statesOf(state))];
  if (sweep !== undefined) {
    const bySweep = sweepIndex(keys, sweep);
    const named = states.length > 0 ? `,${states.join()},` : undefined;
    return { indexes: [nameOf(keys, bySweep)], states: named, project };
  }
  const filter = project === undefined ? {} : { project };
  const indexes =
    states.length > 0 ? states.map((one) => keys.index({ ...filter, state: one })) : [keys.index(filter)];
  return { indexes: indexes.map((index) => nameOf(keys, index)) };
}

/** Sorted set by arrival: the experiments of a sweep. */
function sweepIndex(keys: Keys, sweep: string): string {
  return `${keys.root}:sweep:${sweep}:experiments`;
}

function nameOf(keys: Keys, key: string): string {
  return key.slice(keys.root.length + 1);
}

/** A cursor has the arrival number of the last item, encoded so that clients treat it as opaque. */
function writeCursor(arrival: string): string {
  return Buffer.from(`after ${arrival}`).toString('base64url');
}

function readCursor(cursor: string): string {
  const text = Buffer.from(cursor, 'base64url').toString('latin1');
  const arrival = /^after ([1-9]\d{0,15})$/.exec(text)?.[1];
  if (arrival === undefined || writeCursor(arrival) !== cursor) {
    throw new EchelonError(
      'invalid-cursor',
      'The cursor is not from this list. Repeat the request without a cursor to start from the beginning.',
    );
  }
  return arrival;
}
