import { randomUUID } from 'node:crypto';
import type { Ended } from '../../core/events.ts';
import { RECORD_VERSION } from '../../schemas/experiment.ts';
import { leaseArguments, leaseLost } from '../attempts/leases.ts';
import { type Admission, admitted } from '../experiments/admission.ts';
import type { StoreContext } from '../redis/context.ts';
import type { createPressure } from '../redis/fitness.ts';
import type { RunStore } from './contract.ts';

/** See {@link RunStore}. */
export function createRuns(
  { run, limits }: StoreContext,
  pressure: ReturnType<typeof createPressure>,
): RunStore {
  return {
    async open({ id, project, name, submitted, resolved, defaults, token, silenceMs, idempotency }) {
      const { accepting } = await pressure.recent();
      const documents = [submitted, resolved, defaults].map((value) => JSON.stringify(value));
      const reply = (await run('open-run', [
        ...[id, project, name, ...documents, token, silenceMs],
        ...[idempotency?.name ?? '', idempotency?.digest ?? '', accepting ? '1' : '0', RECORD_VERSION],
      ])) as [...Admission, string];
      const opened = admitted(reply as unknown as Admission, {
        projectField: '/project',
        maxQueued: limits.queuedOfProject,
      });
      return { ...opened, token: reply[3] ?? '' };
    },

    async hear(lease, silenceMs) {
      const heard = await run('hear-run', [...leaseArguments(lease), silenceMs]);
      if (heard !== 1) throw leaseLost(lease);
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
