import { api } from '../../app/api.ts';
import { useResource } from '../../app/resource.ts';
import { WhatIfAnswer } from '../../parts/what-if.tsx';

/** When a valid spec would start, and whom it would delay. */
export function Start({ spec }: { spec: object | undefined }) {
  const asked = useResource(
    async (signal) =>
      spec && (await api.post('/v1/queues/what-if', { body: { spec: spec as never }, signal })),
    [spec],
  );
  if (spec === undefined) return <p class="muted">After the check.</p>;
  if (asked.failure) return <p class="error">{asked.failure.message}</p>;
  return asked.data ? <WhatIfAnswer found={asked.data} /> : <p class="muted">Asking the scheduler…</p>;
}
