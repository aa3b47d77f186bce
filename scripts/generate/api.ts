// Writes docs/openapi.json from the routes' own schemas. The client's types are made from that document, see sources.mjs.
import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { createApp } from '../../src/http/app.ts';
import type { AppDeps } from '../../src/http/server/deps.ts';

const DOCUMENT = 'docs/openapi.json';
const { version } = JSON.parse(readFileSync('package.json', 'utf8')) as { version: string };

/** JSON with each object or list on one line if it fits, so that a diff stays readable. */
const compact = (document: object): string =>
  execFileSync('node_modules/.bin/biome', ['format', '--stdin-file-path=a.json', '--line-width=140'], {
    input: JSON.stringify(document),
    encoding: 'utf8',
  });

/** The app only makes its document, so it needs no store. */
const nothing = new Proxy({}, { get: () => () => undefined });
const app = await createApp({
  store: nothing,
  queue: { enqueue: async () => {}, remove: async () => {}, queues: [] },
  commands: nothing,
  verifier: nothing,
  settings: {
    version,
    publicUrl: 'http://127.0.0.1:7077',
    allowedHosts: ['127.0.0.1'],
    tokens: [],
    promptEndpoints: [],
    cookieSecret: 'no cookie is ever signed with this one',
  },
  log: (await import('pino')).pino({ level: 'silent' }),
  clock: Date,
} as unknown as AppDeps);
await app.ready();
writeFileSync(DOCUMENT, compact(app.swagger()));
await app.close();
process.exit(0);
