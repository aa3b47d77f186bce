import { EchelonError } from '../../core/errors.ts';
import type { State } from '../../core/states.ts';
import type { Experiment } from '../../schemas/experiment.ts';
import type { StoreContext } from '../context.ts';
import type { Keys } from '../redis/keys.ts';
import { createListOrders } from './list-order.ts';
import { type ExperimentFilter, type ExperimentOrder, SORT_FIELDS } from './types.ts';

/**
 * MAX records that one step examines, and MAX steps of one call: the cost of a filter without a match. Redis serves other
 * clients between two steps.
 */
const RECORDS_PER_STEP = 250;
const STEPS = 10;
/** The same effort if the id alone excludes nearly all records. */
const IDS_PER_STEP = 5000;

/** Fields that count rows by outcome; `wrong` is the training signal. */
const COUNTERS = { unverifiable: 'vUnverifiable', rounding: 'vRounding' } as const;

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
/** MAX experiments before the ended ones in the order `active`, the newest ones. */
const ACTIVE = 50_000;

interface ListInput extends ExperimentFilter {
  limit: number;
  before?: string;
  /** Whose cursors these are. Default: those of this process. */
  reader?: string;
}

interface ListPage {
  items: Experiment[];
  next: string | null;
  /** Number of experiments that were sorted by a value; null in the other orders. */
  sorted: number | null;
}

/** Lists of experiments by indexes and filters, newest first or in another order. */
export function createList(context: StoreContext, getAll: GetAll) {
  const reader = { context, getAll, orders: createListOrders(context) };
  return {
    /**
     * One call examines at most 2,500 records, one step of Redis 250; with `idPrefix` 20 times as many. A page may therefore
     * have fewer items than `limit`, or none, and still have a `next`. An order by value examines the newest 10,000 records.
     *
     * An experiment that matches from the first page to the last is on exactly one page, also if its place in the order changes
     * meanwhile.
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
  orders: ReturnType<typeof createListOrders>;
}

const OWN_READER = 'echelon';

/** An experiment that has moved on since, or was deleted, belongs to another list by now. */
async function present({ getAll }: Reader, ids: readonly string[], state: ExperimentFilter['state']) {
  const found = await getAll(ids);
  return found.filter((item): item is Experiment => item !== undefined && isWanted(item.state, state));
}

async function newest(
  reader: Reader,
  { limit, before, reader: _reader, ...filter }: ListInput,
  except: ReadonlySet<number> = new Set(),
): Promise<ListPage> {
  if (limit <= 0) return { items: [], next: null, sorted: null };
  const query = queryOf(reader.context, filter);
  const ids: string[] = [];
  let below = before === undefined ? '+inf' : readCursor(before);
  for (let step = 0; step < STEPS && below !== '' && ids.length < limit; step++) {
    const wanted = limit - ids.length;
    const reply = await reader.context.run('list', [JSON.stringify({ ...query, below, wanted })]);
    const [next, ...found] = reply as [string, ...string[]];
    for (let at = 0; at < found.length; at += 2) if (!except.has(Number(found[at + 1]))) ids.push(found[at]!);
    below = next;
  }
  const items = await present(reader, ids, filter.state);
  return { items, next: below === '' ? null : writeCursor(below), sorted: null };
}

/**
 * Where a list in the order `active` or by value continues: at `at` of a stored order and, in the order `active` after the end of
 * that, among the ended experiments at the cursor `ended`.
 */
interface Place {
  token: string;
  at: number;
  ended?: string;
}

/**
 * First the experiments that have not ended when the first page is read, in the order of {@link BY_ACTIVITY}, then the ended ones. One
 * that ends meanwhile keeps its place.
 */
async function activeFirst(reader: Reader, input: ListInput): Promise<ListPage> {
  const { limit, before, reader: of = OWN_READER, ...filter } = input;
  const place = before === undefined ? undefined : (JSON.parse(before) as Place);
  const order = place ? await reader.orders.read(of, place.token) : await activeOrder(reader.context, filter);
  const at = place?.at ?? 0;
  const shown = Math.min(order.length, at + limit);
  const items = await itemsOf(reader, order.slice(at, shown), filter.state);
  const room = limit - (shown - at);
  const ended = BY_ACTIVITY.at(-1)!.filter((state) => isWanted(state, filter.state));
  const wanted = { ...filter, state: ended, limit: room, ...(place?.ended && { before: place.ended }) };
  const rest = ended.length === 0 ? undefined : await newest(reader, wanted, new Set(order));
  items.push(...(rest?.items ?? []));
  const isOver = shown === order.length && (rest === undefined || (room > 0 && rest.next === null));
  if (isOver) return { items, next: null, sorted: null };
  const token = place?.token ?? (await reader.orders.save(of, [...order]));
  const next: Place = { token, at: shown, ...(rest?.next && { ended: rest.next }) };
  return { items, next: JSON.stringify(next), sorted: null };
}

/** The arrivals of the experiments that have not ended, in the order of {@link BY_ACTIVITY}, the newest of each part first. */
async function activeOrder(context: StoreContext, filter: ExperimentFilter): Promise<number[]> {
  const parts = BY_ACTIVITY.slice(0, -1).map((states) => states.filter((one) => isWanted(one, filter.state)));
  const states = parts.flat();
  if (states.length === 0) return [];
  // All states in one pass: an experiment that moves from one to another has one place in it.
  const found = await valuesOf(
    context,
    { ...filter, state: states },
    { sortBy: ['', 'state'], most: ACTIVE },
  );
  const partOf = (state: string | undefined): number => {
    const part = parts.findIndex((some) => some.includes(state as State));
    return part < 0 ? parts.length : part; // it has ended since
  };
  return found
    .toSorted((a, b) => partOf(a.values[0]) - partOf(b.values[0]) || b.arrival - a.arrival)
    .map(({ arrival }) => arrival);
}

/** By the values of the moment at which the first page is read. */
async function byValue(reader: Reader, input: ListInput, order: ExperimentOrder): Promise<ListPage> {
  const { limit, before, reader: of = OWN_READER, ...filter } = input;
  const place = before === undefined ? undefined : (JSON.parse(before) as Place);
  const arrivals = place
    ? await reader.orders.read(of, place.token)
    : (await sortable(reader.context, filter, order.by))
        .toSorted((a, b) => compareEntries(a, b, order.isDescending))
        .map(({ arrival }) => arrival);
  const at = place?.at ?? 0;
  const items = await itemsOf(reader, arrivals.slice(at, at + limit), filter.state);
  const sorted = arrivals.length;
  if (at + limit >= sorted) return { items, next: null, sorted };
  const token = place?.token ?? (await reader.orders.save(of, [...arrivals]));
  const next: Place = { token, at: at + limit };
  return { items, next: JSON.stringify(next), sorted };
}

async function itemsOf(reader: Reader, arrivals: ArrayLike<number>, state: ExperimentFilter['state']) {
  const ids = await reader.orders.idsOf(arrivals);
  return present(
    reader,
    ids.filter((id) => id !== undefined),
    state,
  );
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
    counter: filter.outcome && filter.outcome !== 'wrong' ? COUNTERS[filter.outcome] : undefined,
    wrong: filter.outcome === 'wrong' || undefined,
    fingerprintPrefix: filter.fingerprintPrefix || undefined,
    // As Lua writes it in lower case.
    search: filter.search?.replaceAll(/[A-Z]/g, (letter) => letter.toLowerCase()) || undefined,
    tag: filter.tag,
  };
}

interface SortEntry {
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
  const found = await valuesOf(context, filter, { sortBy, most: SORTED });
  return found.map(({ arrival, values }) => ({ arrival, value: sortValue(by, values) }));
}

/** Stored fields of the newest `most` experiments that match: a key (`''` or `:metrics`) and names of fields. */
async function valuesOf(
  context: StoreContext,
  filter: ExperimentFilter,
  { sortBy, most }: { sortBy: readonly string[]; most: number },
): Promise<{ arrival: number; values: string[] }[]> {
  const size = sortBy.length + 1;
  const query = { ...queryOf(context, filter), sortBy, wanted: RECORDS_PER_STEP };
  const found: { arrival: number; values: string[] }[] = [];
  for (let step = 0, below = '+inf'; step < most / RECORDS_PER_STEP && below !== ''; step++) {
    const reply = (await context.run('list', [JSON.stringify({ ...query, below })])) as string[];
    for (let at = 1; at < reply.length; at += size)
      found.push({ arrival: Number(reply[at + 1]), values: reply.slice(at + 2, at + size) });
    below = reply[0]!;
  }
  return found;
}

const TEXTS: ReadonlySet<string> = new Set(['name', 'project', 'owner', 'cluster', 'sweep']);

function sortValue(
  by: ExperimentOrder['by'],
  [first = '', second = '', third = '']: string[],
): SortEntry['value'] {
  if (TEXTS.has(by)) return first.toLowerCase() || null;
  const stored = first === '' ? Number.NaN : Number(first);
  let value = stored;
  if (by === 'duration') value = (second === '' ? Date.now() : Number(second)) - stored;
  if (by === 'progress') value = stored / Number(second);
  // A contradiction without a wrong row is before one wrong row.
  if (by === 'wrong' && stored === 0 && Number(second) > Number(third)) value = 0.5;
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
