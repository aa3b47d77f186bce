import { writeFile } from 'node:fs/promises';
import { cliMarkdown } from '../../src/cli/reference.ts';

// Writes docs/reference/cli.md from the commands of the program.
await writeFile(new URL('../../docs/reference/cli.md', import.meta.url), await cliMarkdown());
