import { randomBytes } from 'node:crypto';
import type { Settings } from '../config/settings.ts';
import type { HiddenValues } from '../core/hidden-values.ts';
import { createApp } from '../http/app.ts';
import type { AppDeps } from '../http/server/deps.ts';
import { startServerClock } from '../store/redis/server-clock.ts';
import { keptSecret } from './kept-secret.ts';

/** How the api is reached. */
export interface Access {
  url: string;
  token: string;
  /** Signs a browser in once. */
  loginUrl: string;
}

/** What the role is built of: the parts of the app, and what they are set up with. */
export type ApiParts = Omit<AppDeps, 'settings' | 'clock'> & {
  settings: Settings;
  version: string;
  /** What the log must not show; the secrets of the api are added. */
  hidden: HiddenValues;
  resources: AsyncDisposableStack;
};

/** Listens, and is closed by `resources`. */
export async function startApi({
  settings,
  version,
  resources,
  hidden,
  ...parts
}: ApiParts): Promise<Access> {
  const { stateDir } = settings;
  const tokens = settings.tokens.length > 0 ? settings.tokens : [await keptSecret(stateDir, 'token')];
  const cookieSecret = settings.cookieSecret ?? (await keptSecret(stateDir, 'cookie-secret'));
  const loginCode = randomBytes(24).toString('base64url');
  for (const value of [...tokens, cookieSecret, loginCode]) hidden.hide(value);
  const { publicUrl, allowedHosts } = settings;
  const clock = await startServerClock(parts.store);
  resources.defer(() => clock.stop());
  const app = await createApp({
    ...parts,
    clock,
    settings: {
      ...{ version, tokens, cookieSecret, loginCodes: [loginCode] },
      limits: { storeTimeoutMs: settings.redisTimeoutMs },
      publicUrl: publicUrl ?? ownUrl(settings),
      grafanaUrl: settings.grafanaUrl,
      allowedHosts: publicUrl === null ? allowedHosts : [...allowedHosts, new URL(publicUrl).hostname],
    },
  });
  resources.defer(() => app.close());
  // Thousands of streams come back at one moment; the kernel's own limit still holds.
  await app.listen({ host: settings.host, port: settings.port, backlog: 4096 });
  // The port that was asked for may be 0: any.
  const { port } = app.server.address() as { port: number };
  const url = publicUrl ?? ownUrl({ host: settings.host, port });
  return { url, token: tokens[0]!, loginUrl: `${url}/login?code=${loginCode}` };
}

function ownUrl({ host, port }: { host: string; port: number }): string {
  return `http://${host.includes(':') ? `[${host}]` : host}:${port}`;
}
