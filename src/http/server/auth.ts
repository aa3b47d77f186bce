import type {} from '@fastify/cookie';
import type { FastifyRequest } from 'fastify';
import { EchelonError } from '../../core/errors.ts';
import { ANONYMOUS, type Caller, hasScope, type Scope } from '../../core/scopes.ts';
import type { Known } from '../access/callers.ts';
import { type Sessions, type SignIn, sessionCookie } from '../access/sessions.ts';
import type { App, RouteDeps } from './deps.ts';

declare module 'fastify' {
  interface FastifyRequest {
    /** Who asks; ANONYMOUS on public routes. */
    caller: Caller;
    /** What the caller showed, as a cookie may keep it; empty on public routes. */
    credential: string;
    /** The session, if the caller showed a cookie. */
    signIn: SignIn | undefined;
  }
  interface FastifyContextConfig {
    /** The route is a page: a browser without credentials is redirected to the sign-in. */
    page?: boolean;
  }
}

const SAFE_METHODS = new Set(['GET', 'HEAD', 'OPTIONS']);

/**
 * Counts a failed sign-in, by address and by the id of the API key that was tried; throws EchelonError `rate-limited`
 * if there were too many.
 */
export type FailureCounter = (request: FastifyRequest, token: string | undefined) => Promise<void>;

/**
 * Lets a request through by bearer token, or by cookie; by cookie a write must come from one of our own pages
 * (Origin). Every refusal is the same answer, whatever was wrong.
 */
export function addAuth(app: App, deps: RouteDeps, tools: { sessions: Sessions; onFailure: FailureCounter }) {
  // Fastify takes no object here, since requests would share it; this one is frozen.
  app.decorateRequest('caller', null as unknown as Caller);
  app.decorateRequest('credential', '');
  app.decorateRequest('signIn', undefined);
  app.addHook('onRequest', async (request, reply) => {
    request.caller = ANONYMOUS;
    const { config } = request.routeOptions;
    if (config?.policy?.scope === 'public') return;
    const token = tokenOf(request);
    const found = await identify(request, deps, { ...tools, token });
    if (found === undefined) {
      await tools.onFailure(request, token);
      if (config?.page && SAFE_METHODS.has(request.method) && wantsHtml(request)) {
        return reply.redirect(`/login?next=${encodeURIComponent(request.url)}`, 303);
      }
      reply.header('www-authenticate', 'Bearer realm="echelon"');
      throw new EchelonError('unauthenticated', 'Send a valid token: Authorization: Bearer <token>.');
    }
    request.caller = found.known.caller;
    request.credential = found.known.credential;
    request.signIn = found.signIn;
    if (found.signIn && !SAFE_METHODS.has(request.method)) requireOwnOrigin(request, deps.settings.publicUrl);
    return undefined;
  });
}

function tokenOf({ headers, raw }: FastifyRequest): string | undefined {
  // Node takes the first of several, and a proxy perhaps the last: a request with two is not authenticated.
  const given = raw.rawHeaders.filter((name, at) => at % 2 === 0 && name.toLowerCase() === 'authorization');
  if (given.length > 1) return undefined;
  return /^Bearer ([\x21-\x7e]{1,512})$/i.exec(headers.authorization ?? '')?.[1];
}

async function identify(
  request: FastifyRequest,
  { clock, callers, settings }: RouteDeps,
  { sessions, token }: { sessions: Sessions; token: string | undefined },
): Promise<{ known: Known; signIn: SignIn | undefined } | undefined> {
  if (request.headers.authorization !== undefined) {
    const known = token === undefined ? undefined : await callers.byToken(token);
    return known && { known, signIn: undefined };
  }
  const cookie = request.cookies[sessionCookie(settings.publicUrl).name];
  const signIn = cookie === undefined ? undefined : sessions.verify(cookie, clock.now());
  const known = signIn && (await callers.bySignIn(signIn));
  return known && { known, signIn };
}

/**
 * Refuses a caller that lacks the route's scope, by EchelonError `forbidden` that names it. Added behind the limits, so that refusals count as requests.
 */
export function addScopes(app: App): void {
  app.addHook('onRequest', async (request) => {
    const scope = request.routeOptions.config?.policy?.scope;
    if (scope !== undefined && scope !== 'public' && !request.is404) requireScope(request.caller, scope);
  });
}

/** Throws EchelonError `forbidden`, which names the scope, if the caller does not have it. */
export function requireScope(caller: Caller, needed: Scope): void {
  if (hasScope(caller, needed)) return;
  const has = caller.scopes.join(', ') || 'none';
  throw new EchelonError('forbidden', `This request needs the scope ${needed}. The key has: ${has}.`);
}

/**
 * Throws EchelonError `forbidden` if the page behind the request is not ours: one of the public address, or of the
 * host and port that were asked, by the scheme of the public address (a proxy may have ended TLS before us).
 */
export function requireOwnOrigin(request: FastifyRequest, publicUrl: string): void {
  const { origin, host } = request.headers;
  const own = new URL(publicUrl);
  const asked = `${own.protocol}//${host}`;
  if (origin === own.origin || (URL.canParse(asked) && origin === new URL(asked).origin)) return;
  throw new EchelonError(
    'forbidden',
    `A write with a session cookie needs an Origin header of this server (${own.origin}). Open the dashboard at that address, set ECHELON_PUBLIC_URL to the address in the browser, or use an API key.`,
  );
}

/** True if the client is a browser that loads a page. */
export function wantsHtml(request: FastifyRequest): boolean {
  return (request.headers.accept ?? '').includes('text/html');
}
