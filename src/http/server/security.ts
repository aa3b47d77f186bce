import type { FastifyRequest } from 'fastify';
import helmet from 'helmet';
import { EchelonError } from '../../core/errors.ts';
import { sessionCookie } from '../access/sessions.ts';
import type { App, AppSettings } from './deps.ts';

/** Health checks come from machines that know an address only. */
const ANY_HOST = new Set(['/healthz', '/readyz']);

/**
 * Headers that keep a browser from doing anything but show our own pages, and the list of Host names that we
 * answer to: without it, a foreign page could reach us under a name of its own (DNS rebinding). No CORS header
 * is ever sent.
 */
export function addSecurity(app: App, settings: AppSettings): void {
  const session = sessionCookie(settings.publicUrl);
  // Built once: Fastify's plugin of the same name builds them anew for each request.
  const setHeaders = helmet({
    contentSecurityPolicy: {
      useDefaults: false,
      directives: {
        defaultSrc: ["'self'"],
        baseUri: ["'self'"],
        formAction: ["'self'"],
        frameAncestors: ["'none'"],
        imgSrc: ["'self'", 'data:'],
        objectSrc: ["'none'"],
        scriptSrc: ["'self'"],
        // Pages set sizes and colours in style attributes; no script comes from there.
        styleSrc: ["'self'", "'unsafe-inline'"],
      },
    },
    strictTransportSecurity: session.secure,
    // With `no-referrer`, browsers send `Origin: null` with our own forms, which then look like those of another site.
    referrerPolicy: { policy: 'same-origin' },
  });
  const allowed = new Set(settings.allowedHosts.map((host) => host.toLowerCase()));
  app.addHook('onRequest', async (request, reply) => {
    setHeaders(request.raw, reply.raw, () => {});
    // Answers are about one person's experiments: no cache between may keep them.
    reply.header('cache-control', 'no-store');
    refuseTwoReadings(request, session.name);
    const names = [request.headers.host ?? '', ...hostOfTarget(request.url)].map(hostname);
    if (!names.every((name) => allowed.has(name)) && !ANY_HOST.has(request.routeOptions.url ?? '')) {
      throw new EchelonError(
        'forbidden',
        'The Host header is not an allowed name of this server. Add the name to ECHELON_ALLOWED_HOSTS.',
      );
    }
  });
}

/**
 * Refuses what a proxy before us may have read in another way than we do: of two Host headers Node takes the first, of
 * two session cookies the first counts, though a page of a neighbouring name may have put it there.
 */
function refuseTwoReadings({ raw, headers }: FastifyRequest, cookie: string): void {
  const hosts = raw.rawHeaders.filter((name, at) => at % 2 === 0 && name.toLowerCase() === 'host').length;
  const sessions = (headers.cookie ?? '')
    .split(';')
    .filter((part) => part.split('=', 1)[0]!.trim() === cookie).length;
  if (hosts > 1) throw new EchelonError('invalid-request', 'There is more than one Host header.');
  if (sessions > 1) {
    throw new EchelonError('invalid-request', 'There is more than one session cookie; sign in again.');
  }
}

/** The host in a request's target, which stands above the Host header (RFC 9112, 3.2.2); a path has none. */
function hostOfTarget(target: string): string[] {
  if (target.startsWith('/') || target === '*') return [];
  return [URL.canParse(target) ? new URL(target).host : ''];
}

/** The name of a Host header without its port, in lower case. */
export function hostname(host: string): string {
  return host.toLowerCase().replace(/:\d*$/, '');
}
