import type { RouteOptions } from 'fastify';
import type { Scope } from '../../core/scopes.ts';
import type { RevisedKind } from '../../store/redis/revisions.ts';
import type { App } from './deps.ts';

/** How the server treats every request of a route. Each route declares one, as `config.policy`. */
export interface RoutePolicy {
  /** Scope that the caller needs. `public`: the route needs no credentials. */
  scope: Scope | 'public';
  /** Whether the audit log records authorized requests. Refusals (401, 403) are recorded for every route. */
  audit: boolean;
  /**
   * Effect of an Idempotency-Key. `unsupported`: none, and the header is not documented. `ignored`: the header is allowed
   * and has no effect, because the route stores nothing. `stored`: the server stores the response for repetitions.
   * `own`: the handler passes `idempotencyOf(request)` to the store, which writes the response and the data in one
   * step. `secret`: the response holds a secret, so the server stores only that the request was done.
   */
  idempotency: 'unsupported' | 'ignored' | 'stored' | 'own' | 'secret';
  /**
   * Concurrency control. `none`: no ETag. `digest`: a GET answers a digest of the response as ETag. The kind of a record:
   * a GET answers the record's revision as ETag, and PATCH and DELETE of the same path accept it as If-Match; the path's
   * only parameter is the record's id or name.
   */
  concurrency: 'none' | 'digest' | RevisedKind;
  /** `request`: the request is cancelled after `handlerTimeoutMs`. `store`: only its calls of the store have a deadline. */
  timeout: 'request' | 'store';
}

/** Policy of a GET. */
export const READ: RoutePolicy = {
  scope: 'read',
  audit: false,
  idempotency: 'unsupported',
  concurrency: 'none',
  timeout: 'request',
};

/** Policy of a POST. */
export const CREATE: RoutePolicy = { ...READ, scope: 'submit', audit: true, idempotency: 'stored' };

/** Policy of a PATCH or DELETE. */
export const CHANGE: RoutePolicy = { ...CREATE, idempotency: 'unsupported' };

declare module 'fastify' {
  interface FastifyContextConfig {
    policy?: RoutePolicy;
  }
}

/** Sets the timeouts of the routes that are registered later. The app does not start (TypeError) if one has no policy. */
export function addPolicies(app: App, handlerTimeoutMs: number): void {
  const routes: RouteOptions[] = [];
  app.addHook('onRoute', (route) => {
    routes.push(route);
    // The timeout allocates and aborts a signal for each request, which is a fifth of what a submission costs.
    if (route.config?.policy?.timeout !== 'store') route.handlerTimeout = handlerTimeoutMs;
  });
  // Plugins of other authors get their policy from a hook of their scope, which runs after this one.
  app.addHook('onReady', async () => {
    const bare = routes.filter(({ config }) => config?.policy === undefined);
    if (bare.length > 0)
      throw new TypeError(`No policy: ${bare.map(({ method, url }) => `${method} ${url}`).join(', ')}`);
  });
}
