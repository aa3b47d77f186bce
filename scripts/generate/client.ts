// Writes docs/openapi.json from the routes' own schemas, and the typed client in src/client/gen from that document.
import { execFileSync } from 'node:child_process';
import { globSync, readFileSync, writeFileSync } from 'node:fs';
import { createApp } from '../../src/http/app.ts';
import type { AppDeps } from '../../src/http/server/deps.ts';

const DOCUMENT = 'docs/openapi.json';
const { version } = JSON.parse(readFileSync('package.json', 'utf8')) as { version: string };

/** The app is only asked for its document: nothing behind it is needed. */
const nothing = new Proxy({}, { get: () => () => undefined });
const app = await createApp({
  store: nothing,
  line: { join: async () => {}, queues: [] },
  commands: nothing,
  verifier: nothing,
  settings: {
    version,
    publicUrl: 'http://127.0.0.1:7077',
    allowedHosts: ['127.0.0.1'],
    tokens: [],
    cookieSecret: 'no cookie is ever signed with this one',
  },
  log: (await import('pino')).pino({ level: 'silent' }),
  clock: Date,
} as unknown as AppDeps);
await app.ready();
writeFileSync(DOCUMENT, `${JSON.stringify(app.swagger(), null, 1)}\n`);
await app.close();

execFileSync(process.execPath, [
  ...['--import', './scripts/generate/lib/typescript-js-api.mjs'],
  ...['node_modules/@hey-api/openapi-ts/dist/run.mjs', '--file', 'scripts/generate/lib/client.config.mjs'],
]);
// The generator's own fetch is written for looser settings than ours; the types of requests and answers are checked.
for (const file of globSync('src/client/gen/{client,core}/*.ts'))
  writeFileSync(file, `// @ts-nocheck\n${readFileSync(file, 'utf8')}`);
process.exit(0);
