// Writes the OpenAPI document of the routes' own schemas: node scripts/sources/api-document.ts FILE.
import { readFileSync, writeFileSync } from 'node:fs';
import pino from 'pino';
import { createApp } from '../../src/http/app.ts';
import type { AppDeps } from '../../src/http/server/deps.ts';

const { version } = JSON.parse(readFileSync('package.json', 'utf8')) as { version: string };

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
  log: pino({ level: 'silent' }),
  clock: Date,
} as unknown as AppDeps);
await app.ready();
writeFileSync(process.argv[2]!, `${JSON.stringify(app.swagger(), null, 1)}\n`);
await app.close();
process.exit(0);
