import { writeFile } from 'node:fs/promises';
import { errorsMarkdown } from '../../src/http/server/error-docs.ts';

// Writes docs/reference/errors.md from the registry of errors.
await writeFile(new URL('../../docs/reference/errors.md', import.meta.url), errorsMarkdown());
