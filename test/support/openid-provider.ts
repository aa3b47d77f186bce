import { fork } from 'node:child_process';
import { once } from 'node:events';
import { freePort } from './redis.ts';
import type { Scope } from './store.ts';

/** What an api must know of the provider, besides its issuer. */
export const OIDC_CLIENT = { clientId: 'echelon', clientSecret: 'secret-of-the-oidc-client-0123456789' };

/** See openid-provider-process.ts. */
export interface OpenIdProvider {
  issuer: string;
  /** Sets the people with their groups, or the time by which its clock is ahead. */
  change(change: { people?: Record<string, string[]>; clockMs?: number }): Promise<void>;
  stop(): Promise<void>;
}

/** Starts a provider for an api at `publicUrl`; it ends when `scope` is over. */
export async function openIdProviderFor(scope: Scope, publicUrl: string): Promise<OpenIdProvider> {
  const issuer = `http://127.0.0.1:${await freePort()}`;
  const { clientId, clientSecret } = OIDC_CLIENT;
  const script = new URL('./openid-provider-process.ts', import.meta.url);
  const argv = [issuer, clientId, clientSecret, `${publicUrl}/login/oidc/callback`];
  const child = fork(script, argv, { stdio: ['ignore', 'ignore', 'ignore', 'ipc'] });
  const stop = async () => {
    if (child.exitCode !== null || child.signalCode !== null) return;
    child.kill('SIGKILL');
    await once(child, 'exit');
  };
  scope.after(stop);
  await once(child, 'message');
  return {
    issuer,
    async change(change) {
      child.send(change);
      await once(child, 'message');
    },
    stop,
  };
}
