import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import { SCREENS } from 'echelon-dashboard/screen-paths';
import { Type } from 'typebox';
import { EchelonError } from '../../core/errors.ts';
import { StrictObject } from '../../schemas/objects.ts';
import type { App } from './deps.ts';
import { htmlPage } from './pages.ts';
import { READ } from './policy.ts';

const BUILT = new URL('./', import.meta.resolve('echelon-dashboard/page/index.html'));

/** Nothing but files and answers of this server, and no text that becomes code. */
const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self'",
  "connect-src 'self'",
  "worker-src 'self'",
  "base-uri 'none'",
  "form-action 'self'",
  "frame-ancestors 'none'",
  "require-trusted-types-for 'script'",
  'trusted-types echelon',
].join('; ');

const TYPES: Record<string, string> = {
  js: 'text/javascript; charset=utf-8',
  css: 'text/css; charset=utf-8',
  svg: 'image/svg+xml',
};

interface Asset {
  type: string;
  plain: Buffer;
  /** Made for the first request that accepts it: packing all files would hold up the start. */
  packed?: Promise<Buffer>;
}

const pack = promisify(gzip);

/**
 * Serves the dashboard: its page for every path of a screen, and its files at /assets. A file's name holds the hash of its
 * content, so browsers keep it forever; the files hold no data, so they need no credentials.
 */
export function addDashboard(app: App): void {
  const page = existsSync(new URL('index.html', BUILT))
    ? readFileSync(new URL('index.html', BUILT), 'utf8')
    : undefined;
  for (const screen of SCREENS) {
    for (const path of screen === '' ? ['/'] : [`/${screen}`, `/${screen}/*`]) {
      app.get(
        path,
        { config: { policy: READ, page: true }, schema: { hide: true } },
        async (_request, reply) => {
          reply.type('text/html; charset=utf-8');
          if (page === undefined) return reply.code(503).send(NOT_BUILT);
          return reply.header('content-security-policy', POLICY).send(page);
        },
      );
    }
  }
  const assets = page === undefined ? new Map<string, Asset>() : readAssets();
  addAssets(app, assets);
  addIcon(app, assets);
}

const NOT_BUILT = htmlPage(
  'Dashboard',
  '<h1>Echelon</h1><p>The dashboard is not built. Run <code>npm run setup</code> and start the api again.</p>',
);

function addAssets(app: App, assets: Map<string, Asset>): void {
  const params = StrictObject({ name: Type.String({ maxLength: 200 }) });
  app.get(
    '/assets/:name',
    { config: { policy: { ...READ, scope: 'public' } }, schema: { hide: true, params } },
    async (request, reply) => {
      const asset = assets.get(request.params.name);
      if (asset === undefined) {
        throw new EchelonError('not-found', 'The dashboard has no such file. Reload the page.');
      }
      reply.type(asset.type).header('cache-control', 'public, max-age=31536000, immutable');
      reply.header('vary', 'accept-encoding');
      if (!/\bgzip\b/.test(request.headers['accept-encoding'] ?? '')) return reply.send(asset.plain);
      asset.packed ??= pack(asset.plain);
      return reply.header('content-encoding', 'gzip').send(await asset.packed);
    },
  );
}

/** Browsers ask for this path on pages that name no icon, such as the sign-in page, before anyone has signed in. */
function addIcon(app: App, assets: Map<string, Asset>): void {
  const icon = [...assets].find(([name]) => name.endsWith('.svg'))?.[1];
  app.get(
    '/favicon.ico',
    { config: { policy: { ...READ, scope: 'public' } }, schema: { hide: true } },
    async (_request, reply) =>
      icon === undefined ? reply.code(204).send() : reply.type(icon.type).send(icon.plain),
  );
}

/** All files: together they are smaller than a batch. */
function readAssets(): Map<string, Asset> {
  const folder = new URL('assets/', BUILT);
  const read = (name: string): [string, Asset] => {
    const plain = readFileSync(new URL(name, folder));
    const type = TYPES[name.split('.').at(-1)!] ?? 'application/octet-stream';
    return [name, { type, plain }];
  };
  return new Map(readdirSync(folder).map(read));
}
