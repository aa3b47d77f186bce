import type { Answer } from 'echelon-client/calls';
import { useEffect, useState } from 'preact/hooks';
import { api, failureOf } from '../../app/api.ts';
import { WhatIfAnswer } from '../../parts/what-if.tsx';

type WhatIf = Answer<'post', '/v1/queues/what-if'>;

/** When a valid spec would start, and whom it would delay. */
export function Start({ spec }: { spec: object | undefined }) {
  const [state, setState] = useState<{ of?: object; found?: WhatIf; error?: string }>({});
  useEffect(() => {
    if (spec === undefined) return undefined;
    const stop = new AbortController();
    api.post('/v1/queues/what-if', { body: { spec: spec as never }, signal: stop.signal }).then(
      (found) => setState({ of: spec, found }),
      (error) => stop.signal.aborted || setState({ of: spec, error: failureOf(error).message }),
    );
    return () => stop.abort();
  }, [spec]);
  if (spec === undefined) return <p class="muted">After the check.</p>;
  if (state.of !== spec) return <p class="muted">Asking the scheduler…</p>;
  if (state.error !== undefined) return <p class="error">{state.error}</p>;
  return <WhatIfAnswer found={state.found!} />;
}
