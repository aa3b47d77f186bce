import type { App, RouteDeps } from './deps.ts';

const READS: ReadonlySet<string> = new Set(['GET', 'HEAD', 'OPTIONS']);

/**
 * Refuses requests of the API while the Redis must not be used: all of them if it is another one, and writes if it may
 * lose what it accepts.
 */
export function addStoreFaults(app: App, { storeFault = () => null }: Pick<RouteDeps, 'storeFault'>): void {
  app.addHook('onRequest', async ({ method, url }) => {
    const fault = storeFault();
    if (fault === null || !url.startsWith('/v1/')) return;
    if (fault.code === 'store-foreign' || !READS.has(method)) throw fault;
  });
}
