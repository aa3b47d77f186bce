import { randomBytes } from 'node:crypto';
import { link, mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

/**
 * A secret that is made once and kept under `name` in the state directory, readable by this user only. Processes that start
 * together get the same one.
 */
export async function keptSecret(stateDir: string, name: string): Promise<string> {
  const file = join(stateDir, name);
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

async function read(file: string): Promise<string> {
  return (await readFile(file, 'utf8').catch(() => '')).trim();
}
