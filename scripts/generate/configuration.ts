// Writes docs/configuration.md from the settings.
import { writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { SETTINGS } from '../../src/config/settings.ts';

const shown = (value: unknown): string => {
  if (value === null || value === '') return '';
  const text = Array.isArray(value) ? value.join(',') : String(value);
  return text === '' ? '' : `\`${text.replace(homedir(), '~')}\``;
};

const rows = Object.values(SETTINGS).map(
  ({ variable, fallback, doc }) => `| \`${variable}\` | ${shown(fallback)} | ${doc} |`,
);
writeFileSync(
  'docs/configuration.md',
  `# Settings

Every setting of \`echelon up\`, \`echelon api\` and \`echelon dispatcher\` is a variable of the environment. A value that
cannot be used, and a variable that begins with \`ECHELON_\` and is none of these, end the program with a sentence that
names it. This page is made from the settings themselves.

| variable | default | meaning |
| --- | --- | --- |
${rows.join('\n')}

The command line reads \`ECHELON_URL\` and \`ECHELON_TOKEN\` to find an API.
`,
);
