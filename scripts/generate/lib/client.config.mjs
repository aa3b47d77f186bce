/** How the client is generated: fetch, no runtime dependency, imports that Node takes as they are. */
// biome-ignore lint/style/noDefaultExport: the generator reads the default export
export default {
  input: './docs/openapi.json',
  output: { path: './src/client/gen', module: { extension: '.ts' } },
  plugins: ['@hey-api/client-fetch', '@hey-api/typescript', '@hey-api/sdk'],
  logs: { level: 'silent' },
};
