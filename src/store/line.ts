import { STATES, type State } from '../core/states.ts';
import type { StoreContext } from './context.ts';
import { type Fields, toWaiting } from './record.ts';
import { guarded, runAll } from './redis-errors.ts';
import type { Store, Waiting } from './store.ts';

/** Reasons noted in one atomic step. */
const REASONS_PER_CALL = 500;

/** What of a record the line tells. */
const WAITING_FIELDS = [
  'state',
  'name',
  'project',
  'priority',
  'wanted',
  'gpus',
  'cpus',
  'submittedAt',
  'waitReason',
];

/** What the line tells of these experiments, in their order; those that do not wait are left out. */
export async function readWaiting({ redis, keys }: StoreContext, ids: readonly string[]): Promise<Waiting[]> {
  if (ids.length === 0) return [];
  const commands = redis.pipeline();
  for (const id of ids) commands.hmget(keys.experiment(id), ...WAITING_FIELDS);
  const rows = (await runAll(commands)) as (string | null)[][];
  return ids.flatMap((id, at) => {
    const fields: Fields = {};
    WAITING_FIELDS.forEach((name, column) => {
      const value = rows[at]?.[column];
      if (value !== null && value !== undefined) fields[name] = value;
    });
    return fields.state === 'queued' ? [toWaiting(id, fields)] : [];
  });
}

/** The line of waiting experiments, and how many there are in each state. */
export function createLine(
  context: StoreContext,
): Pick<Store, 'waiting' | 'position' | 'setWaitingReasons' | 'counts' | 'waitingIds'> {
  const { redis, keys, run } = context;

  async function waitingIds(limit: number): Promise<string[]> {
    return limit <= 0 ? [] : await guarded(redis.zrange(keys.line, '0', String(limit - 1)));
  }

  return {
    waitingIds,

    async waiting(limit) {
      return readWaiting(context, await waitingIds(limit));
    },

    async position(id) {
      const [rank, length] = await runAll(redis.pipeline().zrank(keys.line, id).zcard(keys.line));
      return { rank: rank === null ? null : Number(rank) + 1, length: Number(length) };
    },

    async setWaitingReasons(reasons) {
      const entries = [...reasons];
      for (let at = 0; at < entries.length; at += REASONS_PER_CALL) {
        await run('set-waiting-reasons', entries.slice(at, at + REASONS_PER_CALL).flat());
      }
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
