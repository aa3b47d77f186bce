// Writes docs/reference/settings.md from the settings.
import { writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { SETTINGS } from '../../src/config/settings.ts';

const shown = (value: unknown): string => {
  if (value === null || value === '') return '';
  const text = Array.isArray(value) ? value.join(',') : String(value);
  return text === '' ? '' : `\`${text.replace(homedir(), '~')}\``;
};

const rows = Object.values(SETTINGS).map((one) => {
  const star = 'secret' in one ? ' *' : '';
  return `| \`${one.variable}\`${star} | ${shown(one.fallback)} | ${one.doc} |`;
});
writeFileSync(
  'docs/reference/settings.md',
  `# Settings

Every setting of \`echelon up\`, \`echelon api\` and \`echelon dispatcher\` is a variable of the environment. A value that
cannot be used, and a variable that begins with \`ECHELON_\` and is none of these, end the program with a sentence that
names it. This page is made from the settings themselves. Instead of a variable with a star, \`<VARIABLE>_FILE\` may
name a file that holds the value.

| variable | default | meaning |
| --- | --- | --- |
${rows.join('\n')}

The command line finds an API by \`ECHELON_URL\` and \`ECHELON_TOKEN\`, by \`ECHELON_CONTEXT\` (the name of one in its
configuration file), or by the private stack in \`ECHELON_STATE_DIR\`; \`ECHELON_CONFIG\` says where that file is. \`echelon
config --help\` says which of them holds.
`,
);
