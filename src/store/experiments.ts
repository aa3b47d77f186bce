import { EchelonError } from '../core/errors.ts';
import { type Experiment, RECORD_VERSION } from '../schemas/experiment.ts';
import type { StoreContext } from './context.ts';
import type { CancelOutcome, SubmitInput } from './experiment-store.ts';
import type { createPressure } from './fitness.ts';
import { keyNames } from './idempotency.ts';
import { createList } from './list.ts';
import { type Fields, toAttempts, toExperiment } from './record.ts';
import { guarded, runAll } from './redis-errors.ts';
import type { Store } from './store.ts';

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

    ...createList(context, getAll),

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
    keyNames(input.idempotency),
    input.idempotency?.digest ?? '',
    accepting ? '1' : '0',
    RECORD_VERSION,
    input.rerunOf ?? '',
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
