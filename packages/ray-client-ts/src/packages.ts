import { createHash, randomUUID } from 'node:crypto';
import type { RayChannel } from './channel.ts';
import { createIdempotency, createKv } from './kv.ts';
import { UNARY } from './protocol.ts';

/** How long an uploaded package is kept before anything refers to it, as Ray does. */
const PIN_SECONDS = 600;

/**
 * The URI under which a zip is known to the cluster, from its content. Fit for `working_dir` (files at the
 * root of the zip) and `py_modules` (the module's folder at the root) of a runtime environment.
 */
export function packageUri(zip: Uint8Array): string {
  return `gcs://_ray_pkg_${createHash('sha256').update(zip).digest('hex').slice(0, 32)}.zip`;
}

/**
 * Uploads a zip unless the cluster has it already; returns its URI. It lives in the memory of the head: keep
 * it small (Ray refuses more than 512 MiB).
 */
export async function uploadPackage(
  channel: RayChannel,
  zip: Uint8Array,
  signal?: AbortSignal,
): Promise<string> {
  const uri = packageUri(zip);
  // An id without a session: the proxy of the head answers itself. The servers of sessions cannot pin.
  const clientId = randomUUID().replaceAll('-', '');
  const kv = createKv(channel, clientId, createIdempotency());
  const known = await kv.exists(uri, { signal });
  // Pinned in either case: a package that is there may be about to be collected.
  await channel.call(
    UNARY.pinRuntimeEnv,
    { uri, expiration_s: PIN_SECONDS },
    { what: 'pinning a package', clientId, retry: true, signal },
  );
  if (!known) await kv.put(uri, zip, { signal });
  return uri;
}
