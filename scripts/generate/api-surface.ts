// Writes docs/reference/api-surface.txt: each operation and schema of the API, with a digest of its contract, so that a change of the
// API is seen in review. The document itself is made, see sources.mjs.
import { createHash } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';

/** What explains a contract and is no part of it. */
const WORDS = new Set(['description', 'summary', 'examples', 'example', 'tags', 'title']);

interface Document {
  paths: Record<string, Record<string, object>>;
  components: Record<string, Record<string, object>>;
}

const { paths, components } = JSON.parse(readFileSync('src/http/gen/openapi.json', 'utf8')) as Document;

/** Fields that are named like words of a schema stay: they are keys of `properties`. */
function contractOf(value: unknown, isNames = false): unknown {
  if (Array.isArray(value)) return value.map((one) => contractOf(one));
  if (typeof value !== 'object' || value === null) return value;
  const kept = Object.entries(value).filter(([key]) => isNames || !WORDS.has(key));
  return Object.fromEntries(
    kept.sort().map(([key, one]) => [key, contractOf(one, !isNames && key === 'properties')]),
  );
}

const digest = (value: object): string =>
  createHash('sha256')
    .update(JSON.stringify(contractOf(value)))
    .digest('hex')
    .slice(0, 12);

const operations = Object.entries(paths).flatMap(([path, methods]) =>
  Object.entries(methods).map(([method, one]) => `${method.toUpperCase()} ${path} ${digest(one)}`),
);
const shared = Object.entries(components).flatMap(([kind, named]) =>
  Object.entries(named).map(([name, one]) => `${kind} ${name} ${digest(one)}`),
);
writeFileSync('docs/reference/api-surface.txt', `${[...operations, ...shared].join('\n')}\n`);
