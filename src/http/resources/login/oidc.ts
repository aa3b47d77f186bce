import { createHash } from 'node:crypto';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { Type } from 'typebox';
import { EchelonError } from '../../../core/errors.ts';
import { KEY_VERSION } from '../../../schemas/key.ts';
import { StrictObject } from '../../../schemas/objects.ts';
import { type Known, newKeyId, newKeyToken } from '../../access/callers.ts';
import { createOidc, type Oidc, type OidcChecks, type OidcSettings, type Person } from '../../access/oidc.ts';
import { LINK_MS, SESSION_MS, type Sessions, sessionCookie } from '../../access/sessions.ts';
import { type FailureCounter, requireOwnOrigin } from '../../server/auth.ts';
import type { App, RouteDeps } from '../../server/deps.ts';
import { confirmPage, continuePage } from '../../server/pages.ts';
import { READ } from '../../server/policy.ts';
import { createDeviceLimits } from './device-limits.ts';
import { answerPerson, cookieSetter, ownPath } from './login.ts';

/** A person has this time at the provider. */
const FLOW_MS = 10 * 60_000;
const DEVICE_MS = 30 * 60_000;

/** What the cookie of a sign-in in progress says. */
interface Flow extends OidcChecks {
  next: string;
  /** The waiting `echelon login`: its port, and the digest of what it shows for its token. */
  cli: { port: number; challenge: string } | null;
}

interface Tools {
  sessions: Sessions;
  onFailure: FailureCounter;
}

/**
 * GET /login/oidc and its callback: sign-in by the OpenID provider. POST /login/device and /login/token: tokens for
 * `echelon login`. A sign-in makes an API key that ends after 12 hours, so that keys, sessions and revocation are the same
 * for people and programs.
 */
export function addOidc(app: App, deps: RouteDeps, settings: OidcSettings, tools: Tools): void {
  const oidc = createOidc(settings);
  addBegin(app, deps, oidc, tools);
  addCallback(app, deps, oidc, tools);
  const limits = createDeviceLimits(app);
  addDevice(app, oidc, { ...tools, ...limits }, deps);
  addToken(app, deps, oidc, { ...tools, ...limits });
}

const PUBLIC = { ...READ, scope: 'public', audit: true } as const;

function flowCookie(publicUrl: string) {
  const { secure } = sessionCookie(publicUrl);
  return { name: secure ? '__Host-echelon_oidc' : 'echelon_oidc', secure };
}

const Challenge = Type.String({ pattern: '^[A-Za-z0-9_-]{43}$' });

function addBegin(app: App, deps: RouteDeps, oidc: Oidc, tools: Tools): void {
  const begin = beginning(deps, oidc, tools);
  app.get(
    '/login/oidc',
    {
      config: { policy: { ...PUBLIC, audit: false } },
      errorHandler: answerPerson,
      exposeHeadRoute: false,
      schema: {
        hide: true,
        querystring: StrictObject({
          next: Type.Optional(Type.String({ maxLength: 2000 })),
          port: Type.Optional(Type.Integer({ minimum: 1024, maximum: 65535 })),
          challenge: Type.Optional(Challenge),
        }),
      },
    },
    async ({ query: { next, port, challenge } }, reply) => {
      if (port === undefined || challenge === undefined)
        return reply.redirect(await begin(reply, { next: ownPath(next), cli: null }), 303);
      return reply.type('text/html; charset=utf-8').send(confirmPage({ port, challenge }));
    },
  );
  app.post(
    '/login/oidc',
    {
      config: { policy: { ...PUBLIC, audit: false }, form: true },
      errorHandler: answerPerson,
      bodyLimit: 1024,
      schema: {
        hide: true,
        body: StrictObject({ port: Type.String({ pattern: '^[1-9][0-9]{3,4}$' }), challenge: Challenge }),
      },
    },
    async (request, reply) => {
      requireOwnOrigin(request, deps.settings.publicUrl);
      const { port, challenge } = request.body;
      const url = await begin(reply, { next: '/', cli: { port: Number(port), challenge } });
      // Browsers hold a redirect after a form to `form-action` as well, and the provider is another site.
      return reply.type('text/html; charset=utf-8').send(continuePage(url, 'Sign in'));
    },
  );
}

/** Sets the cookie of a sign-in in progress; gives the provider's URL. */
function beginning({ settings, clock }: RouteDeps, oidc: Oidc, { sessions }: Tools) {
  const { name, secure } = flowCookie(settings.publicUrl);
  return async (reply: FastifyReply, way: Pick<Flow, 'next' | 'cli'>): Promise<string> => {
    const { url, checks } = await oidc.begin(settings.publicUrl);
    reply.setCookie(name, sessions.seal('oidc', { ...checks, ...way }, clock.now() + FLOW_MS), {
      path: '/',
      httpOnly: true,
      // The way back begins at the provider.
      sameSite: 'lax',
      secure,
      maxAge: FLOW_MS / 1000,
    });
    return url;
  };
}

function addCallback(app: App, deps: RouteDeps, oidc: Oidc, { sessions, onFailure }: Tools): void {
  const { settings, clock, store, callers } = deps;
  const { name, secure } = flowCookie(settings.publicUrl);
  const setCookie = cookieSetter(deps, sessions);
  app.get(
    '/login/oidc/callback',
    {
      config: { policy: PUBLIC },
      errorHandler: answerPerson,
      exposeHeadRoute: false,
      schema: { hide: true },
    },
    async (request, reply) => {
      reply.clearCookie(name, { path: '/', secure });
      const sealed = request.cookies[name];
      const flow = sealed === undefined ? undefined : sessions.unseal<Flow>('oidc', sealed, clock.now());
      if (flow === undefined || !(await claimOnce(deps, `oidc ${flow.state}`, FLOW_MS)))
        return await refuse(
          request,
          onFailure,
          'This sign-in has expired or was already used. Sign in again.',
        );
      const at = request.url.indexOf('?');
      const person = await oidc
        .finish(settings.publicUrl, at < 0 ? '' : request.url.slice(at), flow)
        .catch(async (error: unknown) => {
          await onFailure(request, undefined);
          throw error;
        });
      if (flow.cli !== null) return toCli(reply, sessions, { person, cli: flow.cli, now: clock.now() });
      const version = await callers.version();
      const { known } = await admit({ ...deps, store }, person);
      setCookie(request, reply, { ...known, version });
      // A browser sends a strict cookie only on a way that begins on a page of ours.
      return reply.type('text/html; charset=utf-8').send(continuePage(flow.next));
    },
  );
}

/** The code is no token: it needs what only the waiting command knows. */
function toCli(
  reply: FastifyReply,
  sessions: Sessions,
  { person, cli, now }: { person: Person; cli: NonNullable<Flow['cli']>; now: number },
) {
  const code = sessions.seal('cli', { person, challenge: cli.challenge }, now + LINK_MS);
  return reply.redirect(`http://127.0.0.1:${cli.port}/?code=${encodeURIComponent(code)}`, 303);
}

async function refuse(request: FastifyRequest, onFailure: FailureCounter, why: string): Promise<never> {
  await onFailure(request, undefined);
  throw new EchelonError('unauthenticated', why);
}

type DeviceTools = Tools & ReturnType<typeof createDeviceLimits>;

function addDevice(app: App, oidc: Oidc, { sessions, mayBegin }: DeviceTools, { clock }: RouteDeps): void {
  app.post(
    '/login/device',
    { config: { policy: { ...PUBLIC, audit: false } }, schema: { hide: true } },
    async (request) => {
      await mayBegin(request);
      const begun = await oidc.beginDevice();
      return {
        url: begun.verification_uri_complete ?? begun.verification_uri,
        code: begun.user_code,
        intervalMs: (begun.interval ?? 5) * 1000,
        device: sessions.seal('device', begun.device_code, clock.now() + DEVICE_MS),
      };
    },
  );
}

function addToken(
  app: App,
  deps: RouteDeps,
  oidc: Oidc,
  { sessions, onFailure, mayPoll }: DeviceTools,
): void {
  const { clock } = deps;
  const Sealed = Type.Optional(Type.String({ maxLength: 4096 }));
  app.post(
    '/login/token',
    {
      config: { policy: PUBLIC },
      bodyLimit: 16_384,
      schema: { hide: true, body: StrictObject({ code: Sealed, verifier: Sealed, device: Sealed }) },
    },
    async (request, reply) => {
      const { code = '', verifier = '', device } = request.body;
      const now = clock.now();
      if (device !== undefined) {
        const deviceCode = sessions.unseal<string>('device', device, now);
        if (deviceCode === undefined) return await refuse(request, onFailure, 'The device code has expired.');
        const person = (await mayPoll(request)) ? await oidc.pollDevice(deviceCode) : undefined;
        return person === undefined ? reply.code(202).send({}) : await tokenFor(deps, request, person);
      }
      const opened = sessions.unseal<{ person: Person; challenge: string }>('cli', code, now);
      const isRight = opened?.challenge === createHash('sha256').update(verifier).digest('base64url');
      if (opened === undefined || !isRight || !(await claimOnce(deps, `cli ${code}`, LINK_MS)))
        return await refuse(request, onFailure, 'The code is invalid, has expired or was already used.');
      return await tokenFor(deps, request, opened.person);
    },
  );
}

async function tokenFor(deps: RouteDeps, request: FastifyRequest, person: Person) {
  const { token, known, expiresAt } = await admit(deps, person);
  request.caller = known.caller;
  const { name, project, scopes } = known.caller;
  return { token, expiresAt, name, project, scopes };
}

/** Makes the key of a signed-in person. Throws EchelonError `forbidden` if its project does not exist. */
async function admit(
  { store, callers, clock }: RouteDeps,
  { subject, name, project, scopes }: Person,
): Promise<{ known: Known; token: string; expiresAt: number }> {
  const [id, now] = [newKeyId(), clock.now()];
  const { token, digest } = newKeyToken(id);
  const expiresAt = now + SESSION_MS;
  const ends = { expiresAt, rotatedAt: null, overlapUntil: null, revokedAt: null, previousDigest: null };
  const createdBy = `oidc:${subject}`.slice(0, 200);
  const key = {
    version: KEY_VERSION as typeof KEY_VERSION,
    id,
    name,
    project,
    scopes: [...scopes],
    createdAt: now,
    createdBy,
    digest,
  };
  const isMade = await store.access.createKey({ ...key, ...ends });
  const known = isMade ? await callers.byToken(token) : undefined;
  if (known !== undefined) return { known, token, expiresAt };
  throw new EchelonError(
    'forbidden',
    `The project ${project} of your group does not exist. Ask the administrator.`,
  );
}

/** Whether this is the first use, at every replica. */
async function claimOnce({ store }: RouteDeps, text: string, leaseMs: number): Promise<boolean> {
  const name = createHash('sha256').update(text).digest('hex');
  return (await store.answers.claim({ name, digest: name, leaseMs })).outcome === 'claimed';
}
