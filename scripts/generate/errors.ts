import { mkdir, writeFile } from 'node:fs/promises';
import { errorsMarkdown } from '../../src/http/server/error-docs.ts';

// Writes docs/errors.md from the registry of errors.
const docs = new URL('../../docs/', import.meta.url);
await mkdir(docs, { recursive: true });
await writeFile(new URL('errors.md', docs), errorsMarkdown());
