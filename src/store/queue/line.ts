import { STATES, type State } from '../../core/states.ts';
import { type Fields, toWaiting } from '../experiments/record.ts';
import type { StoreContext } from '../redis/context.ts';
import { guarded, runAll } from '../redis/errors.ts';
import type { Store } from '../store.ts';
import type { Waiting } from './line-contract.ts';

/** What of a record the line tells. */
export const WAITING_FIELDS = [
  'state',
  'name',
  'project',
  'priority',
  'wanted',
  'gpus',
  'cpus',
  'submittedAt',
  'waitReason',
  'notBefore',
  'wantedLabels',
  'sweep',
  'waitRank',
  'waitEstimate',
];

/** What the line tells of these experiments, in their order; those that do not wait are left out. */
export async function readWaiting({ redis, keys }: StoreContext, ids: readonly string[]): Promise<Waiting[]> {
  if (ids.length === 0) return [];
  const commands = redis.pipeline();
  for (const id of ids) commands.hmget(keys.experiment(id), ...WAITING_FIELDS);
  commands.time();
  const rows = (await runAll(commands)) as (string | null)[][];
  const nowMs = Number(rows.at(-1)?.[0]) * 1000;
  return ids.flatMap((id, at) => waitingOf(id, rows[at] ?? [], nowMs));
}

/** One of the line from its {@link WAITING_FIELDS}; none where it does not wait. */
export function waitingOf(id: string, row: readonly (string | null)[], nowMs: number): Waiting[] {
  const fields: Fields = {};
  WAITING_FIELDS.forEach((name, column) => {
    const value = row[column];
    if (value !== null && value !== undefined) fields[name] = value;
  });
  if (fields.state !== 'queued') return [];
  const item = toWaiting(id, fields);
  // By the server's clock, so that whoever chooses needs none for it.
  return [item.notBefore != null && item.notBefore <= nowMs ? { ...item, notBefore: null } : item];
}

/** The line of waiting experiments, and how many there are in each state. */
export function createLine(
  context: StoreContext,
): Pick<Store, 'waiting' | 'position' | 'counts' | 'waitingIds' | 'whoWaits'> {
  const { redis, keys } = context;

  async function waitingIds(limit: number, from = 0): Promise<string[]> {
    return limit <= 0 ? [] : await guarded(redis.zrange(keys.line, String(from), String(from + limit - 1)));
  }

  return {
    waitingIds,

    async whoWaits(ids) {
      if (ids.length === 0) return new Set();
      const places = await guarded(redis.zmscore(keys.line, ...ids));
      return new Set(ids.filter((_, at) => places[at] !== null));
    },

    async waiting(limit) {
      return readWaiting(context, await waitingIds(limit));
    },

    async position(id) {
      const [rank, length, projects, noted] = await runAll(
        redis
          .pipeline()
          .zrank(keys.line, id)
          .zcard(keys.line)
          .scard(`${keys.root}:lines`)
          .hget(keys.experiment(id), 'waitRank'),
      );
      if (rank === null) return { rank: null, length: Number(length) };
      // Projects take turns: then the place is the one that the last choice found.
      const place = Number(projects) > 1 && noted ? Number(noted) : Number(rank) + 1;
      return { rank: Math.min(place, Number(length)), length: Number(length) };
    },

    async counts(project) {
      const commands = redis.pipeline();
      const of = project === undefined ? {} : { project };
      for (const state of STATES) commands.zcard(keys.index({ ...of, state }));
      const replies = await runAll(commands);
      return Object.fromEntries(STATES.map((state, at) => [state, Number(replies[at])])) as Record<
        State,
        number
      >;
    },
  };
}
