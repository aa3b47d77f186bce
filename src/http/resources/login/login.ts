import { createHash } from 'node:crypto';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { Type } from 'typebox';
import { EchelonError } from '../../../core/errors.ts';
import { Text } from '../../../schemas/answer-parts.ts';
import { StrictObject } from '../../../schemas/objects.ts';
import type { Known } from '../../access/callers.ts';
import { LINK_MS, SESSION_MS, type Sessions, sessionCookie } from '../../access/sessions.ts';
import { type FailureCounter, requireOwnOrigin, wantsHtml } from '../../server/auth.ts';
import type { App, RouteDeps } from '../../server/deps.ts';
import { answerProblem, noteFailure } from '../../server/errors.ts';
import { LOGIN_SCRIPT, loginPage } from '../../server/pages.ts';
import { CHANGE, READ } from '../../server/policy.ts';
import { route } from '../../server/route.ts';

/** Sets the cookie of a caller who is known. */
type SignIn = (request: FastifyRequest, reply: FastifyReply, known: Known & { version: number }) => void;

const Next = Type.Optional(Type.String({ maxLength: 2000, description: 'Path to redirect to afterwards.' }));

/**
 * GET /login: the page with /login.js, or by a one-time code the cookie at once. POST /login: a token for the cookie. POST /logout.
 * The cookie is HttpOnly and SameSite=Strict, and signed; it never holds the token.
 */
export function addLogin(
  app: App,
  deps: RouteDeps,
  tools: { sessions: Sessions; onFailure: FailureCounter },
) {
  const signIn = cookieSetter(deps, tools.sessions);
  addLoginPage(app, deps, tools, signIn);
  addLoginScript(app);
  addLoginPost(app, deps, { ...tools, signIn });
  addLogout(app, deps);
}

function addLoginPage(
  app: App,
  deps: RouteDeps,
  { sessions, onFailure }: { sessions: Sessions; onFailure: FailureCounter },
  signIn: SignIn,
): void {
  app.get(
    '/login',
    {
      config: { policy: { ...READ, scope: 'public', audit: true } },
      errorHandler: answerPerson,
      // A look at the head must not use a code up.
      exposeHeadRoute: false,
      schema: {
        hide: true,
        operationId: 'signInByLink',
        querystring: StrictObject({ next: Next, code: Type.Optional(Type.String({ maxLength: 200 })) }),
      },
    },
    async (request, reply) => {
      const { code, next } = request.query;
      if (code === undefined)
        return page(reply, 200, { next: ownPath(next), oidc: Boolean(deps.settings.oidc) });
      const version = await deps.callers.version();
      const known = await redeem(code, deps, sessions);
      if (known === undefined) {
        await onFailure(request, undefined);
        const message = 'This link is invalid, has expired or was already used. Sign in with an API key.';
        return page(reply, 401, { next: ownPath(next), message });
      }
      signIn(request, reply, { ...known, version });
      return reply.redirect(ownPath(next), 303);
    },
  );
}

function addLoginScript(app: App): void {
  app.get(
    '/login.js',
    { config: { policy: { ...READ, scope: 'public' } }, schema: { hide: true } },
    async (_request, reply) =>
      reply
        .type('text/javascript; charset=utf-8')
        .header('cache-control', 'public, max-age=3600')
        .send(LOGIN_SCRIPT),
  );
}

/** Who signs in with this code; undefined if it is invalid, expired or used. */
async function redeem(code: string, deps: RouteDeps, sessions: Sessions): Promise<Known | undefined> {
  const { callers, store, clock } = deps;
  const now = clock.now();
  const signIn = sessions.verifyCode(code, now);
  if (signIn === undefined) return undefined;
  // The claim expires after the code, so that no replica accepts the code twice.
  const name = createHash('sha256').update(`login-link ${code}`).digest('hex');
  const { outcome } = await store.answers.claim({ name, digest: name, leaseMs: signIn.expiresAt - now });
  return outcome === 'claimed' ? callers.bySignIn(signIn) : undefined;
}

function addLoginPost(
  app: App,
  { settings, callers }: RouteDeps,
  tools: {
    onFailure: FailureCounter;
    signIn: SignIn;
  },
): void {
  route(app, {
    ...CHANGE,
    at: 'POST /login',
    operationId: 'signIn',
    scope: 'public',
    summary: 'Sign in: exchange an API key for a session cookie',
    tag: 'service',
    body: StrictObject({ token: Type.String({ minLength: 1, maxLength: 512 }), next: Next }),
    secrets: 'expected',
    answers: {
      204: { type: 'null', description: 'Signed in; the cookie is set.' },
      303: { type: 'null', description: 'Signed in by an HTML form; the cookie is set.' },
    },
    config: { form: true },
    options: { errorHandler: answerPerson, bodyLimit: 8192 },
    handler: async (request, reply) => {
      if (request.headers.origin !== undefined) requireOwnOrigin(request, settings.publicUrl);
      const version = await callers.version();
      const known = await callers.byToken(request.body.token);
      const next = ownPath(request.body.next);
      if (known === undefined) {
        await tools.onFailure(request, request.body.token);
        throw new EchelonError('unauthenticated', 'The API key or token is invalid.');
      }
      tools.signIn(request, reply, { ...known, version });
      if (isForm(request)) return reply.redirect(next, 303);
      return reply.code(204).send(null);
    },
  });
}

function addLogout(app: App, { store, settings }: RouteDeps): void {
  const { name, secure } = sessionCookie(settings.publicUrl);
  route(app, {
    ...CHANGE,
    at: 'POST /logout',
    operationId: 'signOut',
    scope: 'read',
    summary: 'Sign out every session of the current API key, and end their streams',
    tag: 'service',
    answers: { 303: { type: 'null', description: 'Signed out; redirect to the sign-in page.' } },
    config: { form: true },
    options: { errorHandler: answerPerson },
    handler: async ({ credential }, reply) => {
      // Set first, so that the browser forgets its cookie even if the store is away.
      reply.clearCookie(name, { path: '/', secure });
      await store.access.signOut(credential, SESSION_MS);
      return reply.redirect('/login', 303);
    },
  });
}

/** Sets the cookie of a session. */
export function cookieSetter({ settings, clock }: RouteDeps, sessions: Sessions) {
  const { name, secure } = sessionCookie(settings.publicUrl);
  return (
    request: FastifyRequest,
    reply: FastifyReply,
    { caller, ...issued }: Known & { version: number },
  ) => {
    request.caller = caller;
    reply.setCookie(name, sessions.issue(issued, clock.now()), {
      path: '/',
      httpOnly: true,
      sameSite: 'strict',
      secure,
      maxAge: SESSION_MS / 1000,
    });
  };
}

/** A path of this server to go to; anything that could lead elsewhere is the front page. */
export function ownPath(next: string | undefined): string {
  return next !== undefined && /^\/(?![/\\])[\x21-\x7e]*$/.test(next) && !next.includes('\\') ? next : '/';
}

function isForm(request: FastifyRequest): boolean {
  return request.headers['content-type']?.startsWith('application/x-www-form-urlencoded') ?? false;
}

/** Fastify's handler of errors, for the routes of people: one who sent a form gets the form again with a sentence. */
export function answerPerson(thrown: unknown, request: FastifyRequest, reply: FastifyReply) {
  if (!isForm(request) && !wantsHtml(request)) return answerProblem(thrown, request, reply);
  const { status, message } = noteFailure(thrown, request, reply);
  return page(reply, status, { next: ownPath(nextOf(request)), message });
}

function nextOf({ body, query }: FastifyRequest): string | undefined {
  const { next } = (body ?? query) as { next?: unknown };
  return typeof next === 'string' ? next : undefined;
}

function page(reply: FastifyReply, status: number, content: Parameters<typeof loginPage>[0]) {
  return reply.code(status).type('text/html; charset=utf-8').send(loginPage(content));
}

/** POST /v1/login-links: a link that signs a browser in once, as the caller. */
export function addLoginLinks(app: App, { callers, clock }: RouteDeps, sessions: Sessions): void {
  route(app, {
    at: 'POST /v1/login-links',
    operationId: 'createLoginLink',
    scope: 'read',
    idempotency: 'ignored',
    summary: 'Create a link that signs a browser in to the dashboard once',
    description:
      'The session has the scopes and the project of the API key. A session cannot create a link, because the link would extend it.',
    tag: 'access',
    answers: {
      201: StrictObject({
        path: Text('Path and query to open at the address of the API. It is a secret.'),
        expiresAt: Type.Integer({
          description: 'Time in milliseconds after which the link is invalid.',
        }),
      }),
    },
    handler: async (request, reply) => {
      if (request.headers.authorization === undefined)
        throw new EchelonError(
          'forbidden',
          'A login link needs an API key, not a session. Send the API key.',
        );
      const now = clock.now();
      const issued = { credential: request.credential, version: await callers.version() };
      const path = `/login?code=${sessions.issueCode(issued, now, LINK_MS)}`;
      return reply.code(201).send({ path, expiresAt: now + LINK_MS });
    },
  });
}
