import { existsSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const ROOT = fileURLToPath(new URL('../..', import.meta.url)).replace(/\/$/, '');

/**
 * The shell command that puts `echelon` on this PATH; undefined if it is there. Only a checkout has the launcher: an installed
 * package puts its command on PATH by itself.
 */
export function pathLine(path: string, root = ROOT): string | undefined {
  const folder = join(root, 'bin');
  if (!existsSync(join(folder, 'echelon'))) return undefined;
  const isCommand = path.split(delimiter).some((one) => one !== '' && existsSync(join(one, 'echelon')));
  return isCommand ? undefined : `export PATH="${folder}:$PATH"`;
}
