import { homedir } from 'node:os';
import { SETTINGS } from '../../src/config/settings.ts';

const shown = (value: unknown): string => {
  if (value === null || value === '') return '';
  if (typeof value === 'object' && Object.keys(value).length === 0) return '';
  const text = Array.isArray(value) ? value.join(',') : String(value);
  return text === '' ? '' : `\`${text.replace(homedir(), '~')}\``;
};

/** The page of all settings and other variables of the environment. */
export function settingsPage(): string {
  const rows = Object.values(SETTINGS).map((one) => {
    const star = 'secret' in one ? ' *' : '';
    return `| \`${one.variable}\`${star} | ${shown(one.fallback)} | ${one.doc} |`;
  });
  return `# Settings

This page lists every setting of \`echelon up\`, \`echelon api\` and \`echelon dispatcher\`. It is generated from the
program. Each setting is an environment variable. A value that cannot be used ends the program with a message that names
the variable. So does an unknown variable that begins with \`ECHELON_\`.

For a variable with a star, \`<VARIABLE>_FILE\` may name a file with the value instead.

| variable | default | meaning |
| --- | --- | --- |
${rows.join('\n')}

## Other variables

| variable | read by | meaning |
| --- | --- | --- |
| \`ECHELON_URL\`, \`ECHELON_TOKEN\` | command line, \`echelon_capture\` | Address and token of the API |
| \`ECHELON_RUN_NAME\` | \`echelon_capture\` | Name of the run that it opens. Default: the name of the script |
| \`ECHELON_SECRETS_DIR\` | ray-worker | Directory with one file for each secret of the cluster. Default: \`secrets\` in its state directory |
| \`ECHELON_SECRET_<NAME>\` | ray-worker | Value of the secret \`NAME\`, if the directory has no file for it |

The command line uses, in this order: \`--url\`, \`ECHELON_URL\`, the API of the last \`echelon login\`, and the local \`echelon up\`; the
last two are files in \`ECHELON_STATE_DIR\`. See [secrets](../guides/secrets.md) for how trainings receive secrets.
`;
}
