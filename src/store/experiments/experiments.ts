import { type Experiment, RECORD_VERSION } from '../../schemas/experiment.ts';
import { auditArguments } from '../access/audit.ts';
import { keyNames } from '../access/idempotency.ts';
import type { StoreContext } from '../redis/context.ts';
import { guarded, runAll } from '../redis/errors.ts';
import type { createPressure } from '../redis/fitness.ts';
import type { Store } from '../store.ts';
import { childArguments } from '../sweeps/sweep-children.ts';
import { type Admission, admitted } from './admission.ts';
import type { CancelOutcome, SubmitInput } from './contract.ts';
import { createList } from './list.ts';
import { type Fields, toAttempts, toExperiment } from './record.ts';

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
  { run, limits }: StoreContext,
  pressure: ReturnType<typeof createPressure>,
  input: SubmitInput,
): Promise<{ id: string; created: boolean }> {
  const { accepting } = await pressure.recent();
  const mostWaiting = limits.waitingOfProject;
  const reply = await run('submit', [
    ...childArguments(input.id, input, input.fingerprint),
    input.project,
    keyNames(input.idempotency),
    input.idempotency?.digest ?? '',
    accepting ? '1' : '0',
    mostWaiting,
    RECORD_VERSION,
    input.rerunOf ?? '',
    ...auditArguments(input.audit, { mostOfCaller: limits.auditOfCaller }),
  ]);
  return admitted(reply as Admission, { projectField: '/project', mostWaiting });
}
