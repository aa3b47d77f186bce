import { randomBytes } from 'node:crypto';
import { link, mkdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { SettingsError } from '../config/settings.ts';

/**
 * A secret that is made once and kept under `name` in the state directory, readable by this user only. Processes that start
 * together get the same one. Throws SettingsError where another user could have put it there.
 */
export async function keptSecret(stateDir: string, name: string): Promise<string> {
  const file = join(stateDir, name);
  await refuseForeign(stateDir);
  await refuseForeign(file);
  const kept = await read(file);
  if (kept) return kept;
  const secret = randomBytes(32).toString('base64url');
  await mkdir(stateDir, { recursive: true, mode: 0o700 });
  // Written whole under a name of its own: who comes first decides, and nobody reads half of it.
  const own = `${file}.${randomBytes(6).toString('hex')}`;
  try {
    await writeFile(own, `${secret}\n`, { mode: 0o600 });
    await link(own, file).catch(() => {});
    const first = await read(file);
    if (first) return first;
    // There is an empty file, or one cannot link here.
    await rename(own, file);
    return secret;
  } finally {
    await rm(own, { force: true });
  }
}

const OTHERS_WRITE = 0o022;
const EVERYBODY_WRITES = 0o002;

/** Whoever writes there decides what the secret is: with a token that they put there, they may do everything. */
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
