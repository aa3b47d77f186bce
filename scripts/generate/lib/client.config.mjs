/** How the client is generated: fetch, no runtime dependency, imports that Node takes as they are. */
import { readFileSync } from 'node:fs';
import { clientDocument } from './client-document.ts';

// biome-ignore lint/style/noDefaultExport: the generator reads the default export
export default {
  input: clientDocument(JSON.parse(readFileSync('./docs/openapi.json', 'utf8'))),
  output: { path: './src/client/gen', module: { extension: '.ts' } },
  plugins: ['@hey-api/client-fetch', '@hey-api/typescript', '@hey-api/sdk'],
  logs: { level: 'silent' },
};
