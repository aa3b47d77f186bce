import { createHash } from 'node:crypto';
import { EchelonError } from '../core/errors.ts';
import { type Experiment, RECORD_VERSION } from '../schemas/experiment.ts';
import type { StoreContext } from './context.ts';
import type { createPressure } from './fitness.ts';
import { type Fields, toAttempts, toExperiment } from './record.ts';
import { guarded, runAll } from './redis-errors.ts';
import type { CancelOutcome, Store, SubmitInput } from './store.ts';

/** The records: submit, read, list, cancel. */
export function createExperiments(
  context: StoreContext,
  pressure: ReturnType<typeof createPressure>,
): Pick<Store, 'submit' | 'get' | 'list' | 'cancel' | 'attempts'> {
  const { redis, keys, run } = context;

  async function getAll(ids: readonly string[]): Promise<(Experiment | undefined)[]> {
    if (ids.length === 0) return [];
    const commands = redis.pipeline();
    for (const id of ids) commands.hgetall(keys.experiment(id)).hgetall(keys.metrics(id));
    const replies = (await runAll(commands)) as Fields[];
    return ids.map((_id, at) => toExperiment(replies[2 * at] ?? {}, replies[2 * at + 1] ?? {}));
  }

  return {
    submit: (input) => submit(context, pressure, input),

    async get(id) {
      return (await getAll([id]))[0];
    },

    async list({ project, state, limit, before }) {
      if (limit <= 0) return { items: [], next: null };
      const index = keys.index({
        ...(project === undefined ? {} : { project }),
        ...(state === undefined ? {} : { state }),
      });
      const from = before === undefined ? '+inf' : `(${readCursor(before)}`;
      const found = await guarded(
        redis.zrevrangebyscore(index, from, '-inf', 'WITHSCORES', 'LIMIT', 0, limit + 1),
      );
      const ids = found.filter((_value, at) => at % 2 === 0).slice(0, limit);
      const more = found.length / 2 > limit;
      // One that changed its state since the index was read belongs to another list by now.
      const items = (await getAll(ids)).filter(
        (item): item is Experiment => item !== undefined && (state === undefined || item.state === state),
      );
      return { items, next: more ? writeCursor(found[2 * limit - 1]!) : null };
    },

    async cancel(id, reason) {
      return (await run('cancel', [id, reason])) as CancelOutcome;
    },

    async attempts(id) {
      return toAttempts(await guarded(redis.hgetall(keys.attempts(id))));
    },
  };
}

async function submit(
  { run }: StoreContext,
  pressure: ReturnType<typeof createPressure>,
  input: SubmitInput,
): Promise<{ id: string; created: boolean }> {
  const { accepting } = await pressure.recent();
  const key = input.idempotency;
  const reply = (await run('submit', [
    input.id,
    input.project,
    input.name,
    input.priority,
    input.cluster ?? '',
    input.gpus,
    input.cpus,
    JSON.stringify(input.submitted),
    JSON.stringify(input.resolved),
    JSON.stringify(input.defaults),
    input.fingerprint ?? '',
    key ? createHash('sha256').update(key.key).digest('hex') : '',
    key?.digest ?? '',
    accepting ? '1' : '0',
    RECORD_VERSION,
  ])) as [string, string, string];
  if (reply[0] === 'conflict') {
    throw new EchelonError(
      'idempotency-conflict',
      'The Idempotency-Key was used with another request; use a new key',
    );
  }
  if (reply[0] === 'full') {
    throw new EchelonError(
      'store-full',
      'The store is nearly full; what was accepted goes on, try again later',
    );
  }
  return { id: reply[1], created: reply[2] === '1' };
}

/** A cursor is the arrival number of the last item, in a form that invites nobody to compute with it. */
function writeCursor(arrival: string): string {
  return Buffer.from(`after ${arrival}`).toString('base64url');
}

function readCursor(cursor: string): string {
  const text = Buffer.from(cursor, 'base64url').toString('latin1');
  const arrival = /^after ([1-9]\d{0,15})$/.exec(text)?.[1];
  if (arrival === undefined || writeCursor(arrival) !== cursor) {
    throw new EchelonError(
      'invalid-cursor',
      'The cursor is not one that this list gave out; leave it out to start over',
    );
  }
  return arrival;
}
