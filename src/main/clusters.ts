import { readFile } from 'node:fs/promises';
import { setTimeout as delay } from 'node:timers/promises';
import { SettingsError } from '../config/settings.ts';
import { newCommandId } from '../core/ids.ts';
import type { AddRequest, AddSecret } from '../dispatch/clusters/cluster-commands.ts';
import { isCommandOver } from '../schemas/clusters.ts';
import type { Store } from '../store/store.ts';

/** A cluster that is made known at start. */
export interface KnownCluster {
  name: string;
  /** host:port of its ray-worker. */
  address: string;
  token: string;
}

/** A Ray cluster that is added at start, as `echelon clusters add` would; its dispatcher is in the same process. */
export interface RayCluster {
  name: string;
  /** ray://host:port */
  rayAddress: string;
  rayToken: string;
  /** Certificates of Ray's own TLS, as PEM; null: it has none. */
  rayTls: AddSecret['tls'];
  sharedRoot: string;
}

/** Writes what is known of the clusters; what the store knows of them besides stays. */
export async function makeKnown(
  store: Pick<Store, 'clusters' | 'commands'>,
  clusters: KnownCluster[],
): Promise<void> {
  const known = new Map((await store.clusters.list()).map((cluster) => [cluster.name, cluster]));
  for (const { name, address, token } of clusters) {
    const before = known.get(name);
    await store.clusters.put({
      backfill: false,
      generation: null,
      lastSeenAt: null,
      nodes: [],
      ca: null,
      ...before,
      name,
      address,
      token,
    });
  }
}

/**
 * Adds clusters as a person would: by a command that a dispatcher carries out. Throws what it found, or that none began with it
 * in time.
 */
export async function addRayClusters(
  store: Pick<Store, 'commands'>,
  clusters: RayCluster[],
  takenWithinMs = TAKEN_WITHIN_MS,
): Promise<void> {
  await Promise.all(clusters.map((cluster) => addRayCluster(store, cluster, takenWithinMs)));
}

async function addRayCluster(
  store: Pick<Store, 'commands'>,
  cluster: RayCluster,
  takenWithinMs: number,
): Promise<void> {
  const { name, rayAddress, rayToken, rayTls, sharedRoot } = cluster;
  const id = newCommandId();
  const request: AddRequest = {
    address: rayAddress,
    sharedRoot,
    node: null,
    port: null,
    advertise: null,
    backfill: false,
  };
  const secret: AddSecret = { token: rayToken, tls: rayTls };
  await store.commands.create({ id, cluster: name, kind: 'add', request, secret: JSON.stringify(secret) });
  const failed = (why: string) => new Error(`The cluster ${name} could not be added: ${why}`);
  const begun = performance.now();
  for (;;) {
    const command = await store.commands.get(id);
    if (command === undefined) throw failed('its command is gone. Start again.');
    if (isCommandOver(command)) {
      if (command.state === 'succeeded') return;
      const found = command.problems.find(({ severity }) => severity === 'error');
      throw failed(`${found?.message} ${found?.remedy}`);
    }
    if (command.state === 'queued' && performance.now() - begun > takenWithinMs)
      throw failed('no dispatcher has begun with it. Start one with `echelon dispatcher`, or see its log.');
    await delay(50);
  }
}

/** A dispatcher begins with a command at once, unless an earlier one of the cluster is still open. */
const TAKEN_WITHIN_MS = 120_000;

async function tokenIn(file: string): Promise<string> {
  let token: string;
  try {
    token = (await readFile(file, 'utf8')).trim();
  } catch (error) {
    throw new SettingsError(`--cluster-token-file ${file} cannot be read: ${(error as Error).message}`);
  }
  if (token === '') throw new SettingsError(`--cluster-token-file ${file} is empty`);
  return token;
}

/**
 * The clusters that `--cluster name=address` and `--cluster-token-file` name; the token files are in the order of the
 * clusters. Throws {@link SettingsError} if their numbers or names do not match.
 */
export async function namedClusters(options: {
  cluster?: string[];
  clusterTokenFile?: string[];
}): Promise<KnownCluster[]> {
  const { cluster = [], clusterTokenFile: files = [] } = options;
  if (cluster.length !== files.length)
    throw new SettingsError(
      'each --cluster name=host:port goes with one --cluster-token-file, in the same order',
    );
  return await Promise.all(
    cluster.map(async (text, at) => {
      const [name, address] = text.split('=', 2);
      if (!name || !address) throw new SettingsError(`--cluster takes name=host:port, not "${text}"`);
      return { name, address, token: await tokenIn(files[at]!) };
    }),
  );
}
