import { Type } from 'typebox';
import { EchelonError } from '../../../core/errors.ts';
import { StrictObject } from '../../../schemas/objects.ts';
import { isLeapt, LEAPT } from '../../../store/clock/judge.ts';
import type { App, RouteDeps } from '../../server/deps.ts';
import { route } from '../../server/route.ts';

const Health = StrictObject({ status: Type.Literal('ok') });
const Readiness = StrictObject({
  status: Type.Literal('ok'),
  warnings: Type.Array(Type.String(), { description: 'Faults that an operator must repair' }),
});

/** GET /healthz: this process runs. GET /readyz: it can serve, since its store answers. Neither needs a token. */
export function addHealth(app: App, { store, storeFault = () => null }: RouteDeps): void {
  route(app, {
    at: 'GET /healthz',
    operationId: 'health',
    scope: 'public',
    summary: 'Check that the process runs',
    tag: 'service',
    answer: Health,
    config: { rateLimit: false },
    handler: async () => ({ status: 'ok' as const }),
  });

  route(app, {
    at: 'GET /readyz',
    operationId: 'readiness',
    scope: 'public',
    summary: 'Check that the process can serve requests',
    tag: 'service',
    answer: Readiness,
    problems: ['store-unavailable', 'store-foreign', 'store-misconfigured'],
    config: { rateLimit: false },
    handler: async (request) => {
      const fault = storeFault();
      if (fault !== null) throw fault;
      try {
        const [{ correction }] = await Promise.all([store.clock.read(), store.pressure()]);
        return { status: 'ok' as const, warnings: isLeapt(correction) ? [LEAPT] : [] };
      } catch (error) {
        request.log.warn({ err: error }, 'not ready');
        throw new EchelonError('store-unavailable', 'Redis does not respond. Retry later.', { cause: error });
      }
    },
  });
}
