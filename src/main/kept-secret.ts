import { randomBytes } from 'node:crypto';
import { link, mkdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { SettingsError } from '../config/settings.ts';

/**
 * A secret that is generated once and stored under `name` in the state directory, readable by this user only. Processes
 * that start at the same time get the same secret. Throws SettingsError if another user could have written it.
 */
export async function keptSecret(stateDir: string, name: string): Promise<string> {
  const file = join(stateDir, name);
  await refuseForeign(stateDir);
  await refuseForeign(file);
  const kept = await read(file);
  if (kept) return kept;
  const secret = randomBytes(32).toString('base64url');
  await mkdir(stateDir, { recursive: true, mode: 0o700 });
  // Written whole under a name of its own: the first process decides, and no process reads half of a secret.
  const own = `${file}.${randomBytes(6).toString('hex')}`;
  try {
    await writeFile(own, `${secret}\n`, { mode: 0o600 });
    await link(own, file).catch(() => {});
    const first = await read(file);
    if (first) return first;
    // The file is empty, or the file system has no links.
    await rename(own, file);
    return secret;
  } finally {
    await rm(own, { force: true });
  }
}

const OTHERS_WRITE = 0o022;
const EVERYBODY_WRITES = 0o002;

/** A user who can write there chooses the secret. With a token of their own they would have all scopes. */
async function refuseForeign(path: string): Promise<void> {
  const found = await stat(path).catch(() => undefined);
  if (found === undefined) return;
  const own = found.uid === process.getuid?.() || found.uid === 0;
  // Volumes of Kubernetes give their directory to a group; a file in it is this user's.
  const writable = found.mode & (found.isDirectory() ? EVERYBODY_WRITES : OTHERS_WRITE);
  if (own && writable === 0) return;
  const fault = own ? 'can be written by other users' : 'belongs to another user';
  const remedy = own ? `chmod go-w ${path}` : `chown it, or set ECHELON_STATE_DIR to a directory of your own`;
  throw new SettingsError(`${path} ${fault}, who could put a token of their own there: ${remedy}`);
}

async function read(file: string): Promise<string> {
  return (await readFile(file, 'utf8').catch(() => '')).trim();
}
