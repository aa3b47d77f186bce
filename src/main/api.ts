import { randomBytes } from 'node:crypto';
import { link, mkdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type Settings, SettingsError } from '../config/settings.ts';
import type { HiddenValues } from '../core/hidden-values.ts';
import { credentialOfToken } from '../http/access/callers.ts';
import { createSessions, START_LINK_MINUTES } from '../http/access/sessions.ts';
import { createApp } from '../http/app.ts';
import type { AppDeps } from '../http/server/deps.ts';
import { removeLeftFolders } from '../http/server/own-folder.ts';

/** How the api is reached. */
export interface Access {
  url: string;
  token: string;
  /** Signs a browser in once, within the minutes that `loginMinutes` says. */
  loginUrl: string;
  loginMinutes: number;
}

/** Listens, and is closed by `resources`. */
export async function startApi({
  settings,
  version,
  resources,
  hidden,
  ...parts
}: Omit<AppDeps, 'settings'> & {
  settings: Settings;
  version: string;
  /** What the log must not show; the secrets of the api are added. */
  hidden: HiddenValues;
  resources: AsyncDisposableStack;
}): Promise<Access> {
  await removeLeftFolders();
  const { stateDir } = settings;
  const tokens = settings.tokens.length > 0 ? settings.tokens : [await keptSecret(stateDir, 'token')];
  const cookieSecret = settings.cookieSecret ?? (await keptSecret(stateDir, 'cookie-secret'));
  const { publicUrl, allowedHosts } = settings;
  const issued = { credential: credentialOfToken(tokens[0]!), version: await parts.store.access.version() };
  const loginCode = createSessions(cookieSecret).issueCode(
    issued,
    parts.clock.now(),
    START_LINK_MINUTES * 60_000,
  );
  for (const value of [...tokens, cookieSecret, loginCode]) hidden.hide(value);
  const app = await createApp({
    ...parts,
    settings: {
      version,
      tokens,
      cookieSecret,
      limits: { storeTimeoutMs: settings.redisTimeoutMs },
      publicUrl: publicUrl ?? ownUrl(settings),
      oidc: oidcOf(settings),
      grafanaUrl: settings.grafanaUrl,
      gpuPrices: settings.gpuPrices,
      preemptWithinMs: settings.preemptWithinMs,
      promptEndpoints: settings.promptEndpoints,
      mailDomains: settings.mailDomains,
      allowedHosts: publicUrl === null ? allowedHosts : [...allowedHosts, new URL(publicUrl).hostname],
    },
  });
  resources.defer(() => app.close());
  // Thousands of streams come back at one moment; the kernel's own limit still holds.
  await app.listen({ host: settings.host, port: settings.port, backlog: 4096 });
  // The port that was asked for may be 0: any.
  const { port } = app.server.address() as { port: number };
  const url = publicUrl ?? ownUrl({ host: settings.host, port });
  const loginUrl = `${url}/login?code=${loginCode}`;
  return { url, token: tokens[0]!, loginUrl, loginMinutes: START_LINK_MINUTES };
}

function oidcOf(settings: Settings): NonNullable<AppDeps['settings']['oidc']> | null {
  const { oidcIssuer: issuer, oidcClientId: clientId, oidcClientSecret: clientSecret } = settings;
  if (issuer === null || clientId === null || clientSecret === null) return null;
  const { oidcScopes: scopes, oidcGroupsClaim: groupsClaim, oidcGrants: grants } = settings;
  return { issuer, clientId, clientSecret, scopes, groupsClaim, grants };
}

function ownUrl({ host, port }: { host: string; port: number }): string {
  return `http://${host.includes(':') ? `[${host}]` : host}:${port}`;
}

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
