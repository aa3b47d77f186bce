import { randomUUID } from 'node:crypto';
import { EchelonError } from '../../core/errors.ts';
import type { Ended } from '../../core/events.ts';
import { RECORD_VERSION } from '../../schemas/experiment.ts';
import { leaseArguments, leaseLost } from '../attempts/leases.ts';
import { type Admission, admissionLimits, admitted, quotaExceeded } from '../experiments/admission.ts';
import type { StoreContext } from '../redis/context.ts';
import { guarded } from '../redis/errors.ts';
import type { createPressure } from '../redis/fitness.ts';
import type { OpenRunInput, RunStore } from './contract.ts';
import { refuseOther } from './repeated-events.ts';

/** See {@link RunStore}. */
export function createRuns(context: StoreContext, pressure: ReturnType<typeof createPressure>): RunStore {
  const { redis, keys, run } = context;
  return {
    open: (input) => open(context, pressure, input),

    async hear(lease, silenceMs, events = []) {
      const { projectBytes } = await pressure.recent();
      const bytes = events.reduce(
        (sum, { event, data }) => sum + JSON.stringify(event).length + (data?.length ?? 0),
        0,
      );
      const args = [...leaseArguments(lease), silenceMs, projectBytes, bytes];
      const [outcome, last, used, bound] = (await run('hear-run', args)) as string[];
      if (outcome !== 'ok') throw leaseLost(lease);
      const repeated = events.filter(({ sequence }) => sequence <= Number(last));
      await refuseOther(context, lease, repeated);
      // A run over its quota may still end.
      const grows = events.length > repeated.length && events.at(-1)?.event.type !== 'ended';
      if (grows && bound !== undefined) throw quotaExceeded(used!, bound);
    },

    async repeated({ experiment, attempt }, events) {
      const last = Number((await guarded(redis.hget(keys.attempts(experiment), `${attempt}:last`))) ?? 0);
      if (events.length === 0 || events.some(({ sequence }) => sequence > last)) return null;
      await refuseOther(context, { experiment, attempt }, events);
      return last;
    },

    async takeSilent(limit) {
      const tokens = Array.from({ length: limit }, () => randomUUID());
      const reply = (await run('take-silent-runs', tokens)) as string[];
      return Array.from({ length: reply.length / 4 }, (_run, at) => {
        const [experiment, attempt, token, ended] = reply.slice(4 * at, 4 * at + 4) as [
          ...[string, string, string, string],
        ];
        return {
          lease: { experiment, attempt: Number(attempt), token },
          ended: ended === '' ? null : (JSON.parse(ended) as Ended),
        };
      });
    },
  };
}

async function open(
  context: StoreContext,
  pressure: ReturnType<typeof createPressure>,
  { id, project, name, submitted, resolved, defaults, token, silenceMs, idempotency }: OpenRunInput,
): ReturnType<RunStore['open']> {
  const { run, limits } = context;
  const { accepting, maxQueued, projectBytes } = await admissionLimits(context, pressure);
  const documents = [submitted, resolved, defaults].map((value) => JSON.stringify(value));
  const reply = (await run('open-run', [
    ...[id, project, name, ...documents, token, silenceMs],
    ...[idempotency?.name ?? '', idempotency?.digest ?? '', accepting, RECORD_VERSION],
    ...[limits.runsOfProject, maxQueued, projectBytes],
  ])) as [...Admission, string];
  if ((reply[0] as string) === 'runs-full') throw tooManyRuns(limits.runsOfProject);
  const opened = admitted(reply as unknown as Admission, { projectField: '/project', maxQueued });
  return { ...opened, token: reply[3] ?? '' };
}

function tooManyRuns(max: number): EchelonError {
  return new EchelonError(
    'limit-reached',
    `A project may have at most ${max} open external runs. End one with an event \`ended\`, or cancel one.`,
  );
}
