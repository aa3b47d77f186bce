import helmet from '@fastify/helmet';
import { EchelonError } from '../../core/errors.ts';
import type { App, AppSettings } from '../deps.ts';

/** Health checks come from machines that know an address only. */
const ANY_HOST = new Set(['/healthz', '/readyz']);

/**
 * Headers that keep a browser from doing anything but show our own pages, and the list of Host names that we
 * answer to: without it, a foreign page could reach us under a name of its own (DNS rebinding). No CORS header
 * is ever sent.
 */
export async function addSecurity(app: App, settings: AppSettings): Promise<void> {
  const https = settings.publicUrl.startsWith('https:');
  await app.register(helmet, {
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
    strictTransportSecurity: https,
    referrerPolicy: { policy: 'no-referrer' },
  });

  const allowed = new Set(settings.allowedHosts.map((host) => host.toLowerCase()));
  app.addHook('onRequest', async (request, reply) => {
    // Answers are about one person's experiments: no cache between may keep them.
    reply.header('cache-control', 'no-store');
    const host = hostname(request.headers.host ?? '');
    if (!allowed.has(host) && !ANY_HOST.has(request.routeOptions.url ?? '')) {
      throw new EchelonError('forbidden', 'This server does not go by that name (Host header).');
    }
  });
}

/** The name of a Host header without its port, in lower case. */
export function hostname(host: string): string {
  return host.toLowerCase().replace(/:\d*$/, '');
}
