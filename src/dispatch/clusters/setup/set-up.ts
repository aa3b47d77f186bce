import type { RayNode } from 'ray-client-ts/cluster';
import { answersWithoutToken, connect } from 'ray-client-ts/connect';
import type { RayConnection } from 'ray-client-ts/connection';
import { packageUri } from 'ray-client-ts/packages';
import type { RayWorkerDescription } from '../../../rpc/ray-worker.ts';
import type { RayPlace } from '../../../store/clusters/types.ts';
import {
  ACTOR,
  connectionOf,
  endActor,
  findActor,
  killCommand,
  type RayWorkerConnection,
  startActor,
} from './actor.ts';
import { compareVersions, type RayWorkerPackage } from './package.ts';
import { SetupError } from './problems.ts';
import { findNode, headOf, isLoopback, listeningHost, reach, sizeInWords } from './reach.ts';

/*
 * Invariant: the set-up can be interrupted at any line and begun again, without effect on running attempts. The
 * ray-worker's token comes over the authenticated session and goes into the result only.
 */

/** A cluster whose ray-worker runs and is reachable. */
export interface SetUp {
  /** host:port at which the ray-worker was reached. */
  address: string;
  token: string;
  ca: string | null;
  description: RayWorkerDescription;
}

/** The services and settings of the set-up of a cluster. */
interface SetUpDeps {
  pack: () => RayWorkerPackage;
  /** Installation and cluster that are to own the ray-worker. */
  owner?: string;
  /** Reports a step to the user, before or after it. */
  say: (line: string) => Promise<void>;
  /** Reports a problem that does not prevent the set-up. */
  warn: (message: string, remedy: string) => void;
  /** Interrupts the set-up. */
  signal: AbortSignal;
  /** How long the ray-worker may take to answer from here. */
  reachMs?: number;
  /** How long Ray may take to answer. */
  connectMs?: number;
}

const CONNECT_MS = 15_000;

/** Sets up the cluster `name` at `place`. Throws {@link SetupError} and errors of packages/ray-client-ts/src. */
export async function setUpCluster(name: string, place: RayPlace, deps: SetUpDeps): Promise<SetUp> {
  const { say, signal } = deps;
  const pack = deps.pack();
  await say(`connecting to ${place.address}`);
  const [ray] = await Promise.all([openSession(place, pack, deps), warnIfOpen(place, deps)]);
  await using _closing = ray;
  const abort = () => void ray.close();
  signal.addEventListener('abort', abort, { once: true });
  try {
    signal.throwIfAborted();
    checkVersions(ray, deps);
    const nodes = (await ray.nodes()).filter((node) => node.alive);
    await say(`Ray ${ray.rayVersion} with ${sizeInWords(nodes)}`);
    const connection = await ensureRayWorker({ name, ray, nodes, place, pack, deps });
    signal.throwIfAborted();
    const address = place.advertise ?? connection.address;
    const description = await reach(address, connection, deps);
    await say(`reached its ray-worker ${connection.version} at ${address}`);
    if (connection.ca === null && !isLoopback(address))
      deps.warn(
        `The connection to the ray-worker at ${address} is not encrypted: its token can be read on the network.`,
        'Install openssl on its node, or start Ray with TLS, then add the cluster again.',
      );
    return { address, token: connection.token, ca: connection.ca, description };
  } finally {
    signal.removeEventListener('abort', abort);
  }
}

/** Ends the ray-worker of the Ray cluster at `place`. Its supervisors continue to run, so no attempt may run there. */
export async function endRayWorker(place: RayPlace, connectMs = CONNECT_MS): Promise<void> {
  const { token, tls } = place;
  await using ray = await connect(place.address, {
    ...(token !== null && { token }),
    ...(tls !== null && { tls }),
    namespace: ACTOR.namespace,
    reconnectGraceMs: 0,
    selfTest: false,
    connectTimeoutMs: connectMs,
  });
  const actor = await findActor(ray);
  if (actor) await endActor(ray, actor);
}

function openSession(
  { address, token, tls }: RayPlace,
  { zip }: RayWorkerPackage,
  { connectMs = CONNECT_MS }: SetUpDeps,
): Promise<RayConnection> {
  return connect(address, {
    ...(token !== null && { token }),
    ...(tls !== null && { tls }),
    namespace: ACTOR.namespace,
    packages: [zip],
    // The session's process imports the actor's class.
    runtimeEnv: { py_modules: [packageUri(zip)] },
    reconnectGraceMs: 0,
    selfTest: false,
    connectTimeoutMs: connectMs,
  });
}

async function warnIfOpen(
  { address, tls }: RayPlace,
  { warn, connectMs = CONNECT_MS }: SetUpDeps,
): Promise<void> {
  const options = { connectTimeoutMs: connectMs, ...(tls !== null && { tls }) };
  const open = await answersWithoutToken(address, options).catch(() => false);
  if (open)
    warn(
      `Ray at ${address} answers without a token: every program that reaches the port can run code on the cluster.`,
      'Start Ray with RAY_AUTH_MODE=token (Ray 2.52 or newer), or open the port to the dispatchers only.',
    );
}

function checkVersions(ray: RayConnection, { warn }: SetUpDeps): void {
  for (const warning of ray.warnings)
    warn(`${warning}.`, 'It may work. A command that fails reports the reason.');
  const [major = 0, minor = 0] = ray.pythonVersion.split('.').map(Number);
  if (major < 3 || (major === 3 && minor < 10))
    throw new SetupError(
      `Ray runs on Python ${ray.pythonVersion}; the ray-worker needs 3.10 or newer.`,
      'Use a newer Python on the cluster.',
    );
}

interface Ensure {
  name: string;
  ray: RayConnection;
  nodes: readonly RayNode[];
  place: RayPlace;
  pack: RayWorkerPackage;
  deps: SetUpDeps;
}

async function ensureRayWorker(input: Ensure): Promise<RayWorkerConnection> {
  const { name, ray, nodes, place, pack, deps } = input;
  const wanted = place.node === null ? undefined : findNode(nodes, place.node);
  const fresh = {
    stateDir: `${place.sharedRoot.replace(/\/+$/, '')}/echelon/${name}`,
    sharedRoot: place.sharedRoot,
  };
  const actor = await findActor(ray);
  if (actor === undefined) return start(input, wanted ?? headOf(nodes), fresh);
  const found = await connectionOf(actor);
  if (found === 'dead') {
    await deps.say('the ray-worker there is dead; starting it again');
    await endActor(ray, actor);
    return start(input, wanted ?? headOf(nodes), fresh);
  }
  if (place.sharedRoot.startsWith('/') && trimmed(found.sharedRoot) !== trimmed(place.sharedRoot))
    throw new SetupError(
      `The ray-worker there uses the shared root ${found.sharedRoot}, not ${place.sharedRoot}.`,
      `Pass --shared-root ${found.sharedRoot}; or, when nothing runs there, end it with \`${killCommand(place.address)}\` and add the cluster again.`,
    );
  const why = whyReplace(found, { place, pack, wanted });
  if (why === undefined) {
    await deps.say(`found the ray-worker ${found.version} on node ${found.nodeId.slice(0, 12)}`);
    if (compareVersions(found.version, pack.version) > 0)
      deps.warn(
        `The ray-worker there is of version ${found.version}, newer than ${pack.version} here.`,
        'Update the dispatchers to that version.',
      );
    return found;
  }
  await deps.say(`replacing the ray-worker ${found.version}: ${why}; running experiments continue`);
  await endActor(ray, actor);
  const before = nodes.find((node) => node.id === found.nodeId) ?? headOf(nodes);
  return start(input, wanted ?? before, found);
}

function whyReplace(
  found: RayWorkerConnection,
  { place, pack, wanted }: { place: RayPlace; pack: RayWorkerPackage; wanted: RayNode | undefined },
): string | undefined {
  if (compareVersions(found.version, pack.version) < 0)
    return `this dispatcher brings version ${pack.version}`;
  if (wanted !== undefined && wanted.id !== found.nodeId)
    return `the wanted node is ${wanted.id.slice(0, 12)}`;
  if (place.port !== null && !found.address.endsWith(`:${place.port}`))
    return `the wanted port is ${place.port}`;
  return undefined;
}

async function start(
  { ray, nodes, place, pack, deps }: Ensure,
  node: RayNode,
  { stateDir, sharedRoot }: Pick<RayWorkerConnection, 'stateDir' | 'sharedRoot'>,
): Promise<RayWorkerConnection> {
  await deps.say(`starting the ray-worker ${pack.version} on node ${node.id.slice(0, 12)} (${node.address})`);
  return await startActor(ray, pack, node.id, {
    stateDir,
    sharedRoot,
    host: listeningHost(place, node, headOf(nodes)),
    port: place.port ?? 0,
    reachedAs: place.advertise?.replace(/:\d+$/, '') ?? '',
  });
}

const trimmed = (path: string): string => path.replace(/(?<=.)\/+$/, '');
