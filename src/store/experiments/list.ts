import { EchelonError } from '../../core/errors.ts';
import type { State } from '../../core/states.ts';
import type { Experiment } from '../../schemas/experiment.ts';
import type { StoreContext } from '../redis/context.ts';
import type { Keys } from '../redis/keys.ts';
import type { ExperimentFilter } from './types.ts';

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

/** Lists of experiments, newest first, by indexes and filters. */
export function createList(context: StoreContext, getAll: GetAll) {
  return {
    /**
     * Newest first. One call examines at most 2,500 records, one step of Redis 250; with `idPrefix` 20 times as many. A page
     * may therefore have fewer items than `limit`, or none, and still have a `next`.
     */
    async list({ limit, before, ...filter }: ExperimentFilter & { limit: number; before?: string }): Promise<{
      items: Experiment[];
      next: string | null;
    }> {
      if (limit <= 0) return { items: [], next: null };
      const query = {
        ...placesOf(context, filter),
        effort: filter.idPrefix ? IDS_PER_STEP : RECORDS_PER_STEP,
        sweep: filter.sweep,
        namePrefix: filter.namePrefix || undefined,
        from: filter.submittedFrom,
        before: filter.submittedBefore,
        idPrefix: filter.idPrefix || undefined,
        counter: filter.outcome && COUNTERS[filter.outcome],
        fingerprintPrefix: filter.fingerprintPrefix || undefined,
      };
      const ids: string[] = [];
      let below = before === undefined ? '+inf' : readCursor(before);
      for (let step = 0; step < STEPS && below !== '' && ids.length < limit; step++) {
        const wanted = limit - ids.length;
        const reply = await context.run('list', [JSON.stringify({ ...query, below, wanted })]);
        const [next, ...found] = reply as [string, ...string[]];
        ids.push(...found.filter((_value, at) => at % 2 === 0));
        below = next;
      }
      // One that has moved on since, or was deleted, belongs to another list by now.
      const items = (await getAll(ids)).filter(
        (item): item is Experiment => item !== undefined && isWanted(item.state, filter.state),
      );
      return { items, next: below === '' ? null : writeCursor(below) };
    },
  };
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
