import type { Settings } from '../config/settings.ts';
import type { HiddenValues } from '../core/hidden-values.ts';
import { credentialOfToken } from '../http/access/callers.ts';
import { createSessions, START_LINK_MINUTES } from '../http/access/sessions.ts';
import { createApp } from '../http/app.ts';
import type { AppDeps } from '../http/server/deps.ts';
import { removeLeftUploads } from '../http/server/upload.ts';
import { keptSecret } from './kept-secret.ts';

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
  await removeLeftUploads();
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
      grafanaUrl: settings.grafanaUrl,
      promptEndpoints: settings.promptEndpoints,
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

function ownUrl({ host, port }: { host: string; port: number }): string {
  return `http://${host.includes(':') ? `[${host}]` : host}:${port}`;
}
