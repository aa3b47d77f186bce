import { setTimeout as delay } from 'node:timers/promises';
import type { ActorHandle } from '../../ray/actor.ts';
import type { RayNode } from '../../ray/cluster.ts';
import { actorClass } from '../../ray/code.ts';
import { answersWithoutToken, connect, type RayConnection } from '../../ray/connect.ts';
import { RayActorDiedError, RayPythonError } from '../../ray/errors.ts';
import { packageUri } from '../../ray/packages.ts';
import { createRayWorkerClient } from '../../rpc/client.ts';
import { checkHealth } from '../../rpc/health.ts';
import type { RayWorkerDescription } from '../../rpc/ray-worker.ts';
import type { RayPlace } from '../../store/store.ts';
import { compareVersions, type RayWorkerPackage } from './package.ts';
import { SetupError } from './problems.ts';

/*
 * What always holds: it can be broken off at any line and begun again; an attempt never notices. The ray-worker's token
 * comes over the authenticated session and goes into the result, nowhere else.
 */

/** Name of the actor, and its namespace. */
export const ACTOR = { name: 'echelon-ray-worker', namespace: 'echelon' } as const;

/** A cluster whose ray-worker runs and can be reached. */
export interface SetUp {
  /** host:port by which it was reached. */
  address: string;
  token: string;
  ca: string | null;
  description: RayWorkerDescription;
}

/** What setting a cluster up takes. */
export interface SetUpDeps {
  pack: () => RayWorkerPackage;
  /** A step is about to be done, or has been: a sentence for the person who waits. */
  say: (line: string) => Promise<void>;
  /** Something is not well, but not in the way. */
  warn: (message: string, mend: string) => void;
  /** Breaks it off. */
  signal: AbortSignal;
  /** How long the ray-worker may take to answer from here. */
  reachMs?: number;
  /** How long Ray may take to answer. */
  connectMs?: number;
}

/** How the ray-worker of an actor is reached. */
interface Connection {
  address: string;
  version: string;
  generation: string;
  token: string;
  ca: string | null;
  nodeId: string;
  stateDir: string;
  sharedRoot: string;
}

const RAY_WORKER = actorClass('echelon_rayworker.actor:RayWorker');
/** Methods that may be in work at once; each is short or only waits. */
const MAX_CONCURRENCY = 16;
/** The actor itself waits 60 s for its server before it says why it does not serve. */
const CONNECTION_MS = 90_000;
const CONNECT_MS = 15_000;
const END_MS = 20_000;
const REACH_MS = 8_000;

/** Sets up the cluster `name` at `place`. Throws {@link SetupError} and errors of src/ray. */
export async function setUpCluster(name: string, place: RayPlace, deps: SetUpDeps): Promise<SetUp> {
  const { say, signal } = deps;
  const pack = deps.pack();
  await say(`connecting to ${place.address}`);
  const [ray] = await Promise.all([openSession(place, pack, deps), warnWhereOpen(place, deps)]);
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
    await say(`its ray-worker ${connection.version} is reached at ${address}`);
    if (connection.ca === null && !isLoopback(address))
      deps.warn(
        `The way to the ray-worker at ${address} is not encrypted: its token can be read on the network.`,
        'Install openssl on its node, or start Ray with TLS, then add the cluster again.',
      );
    return { address, token: connection.token, ca: connection.ca, description };
  } finally {
    signal.removeEventListener('abort', abort);
  }
}

/** Ends the ray-worker of the Ray at `place`; its supervisors live on, so nothing may run there. */
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
  if (actor) await end(ray, actor);
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
    // The session's own process imports the class that it is asked to make an actor of.
    runtimeEnv: { py_modules: [packageUri(zip)] },
    reconnectGraceMs: 0,
    selfTest: false,
    connectTimeoutMs: connectMs,
  });
}

async function warnWhereOpen(
  { address, tls }: RayPlace,
  { warn, connectMs = CONNECT_MS }: SetUpDeps,
): Promise<void> {
  const options = { connectTimeoutMs: connectMs, ...(tls !== null && { tls }) };
  const open = await answersWithoutToken(address, options).catch(() => false);
  if (open)
    warn(
      `Ray at ${address} answers without a token: whoever reaches that port can run any program on the cluster.`,
      'Start Ray with RAY_AUTH_MODE=token (Ray 2.52 or newer), or let nobody but the dispatchers reach the port.',
    );
}

function checkVersions(ray: RayConnection, { warn }: SetUpDeps): void {
  for (const warning of ray.warnings)
    warn(`${warning}.`, 'It may work; what fails is told by the command that fails.');
  const [major = 0, minor = 0] = ray.pythonVersion.split('.').map(Number);
  if (major < 3 || (major === 3 && minor < 10))
    throw new SetupError(
      `Ray runs on Python ${ray.pythonVersion} there; the ray-worker needs 3.10 or newer.`,
      'Use a newer Python on the cluster.',
    );
}

function sizeInWords(nodes: readonly RayNode[]): string {
  const sum = (resource: string) => nodes.reduce((all, node) => all + (node.resources[resource] ?? 0), 0);
  return `${nodes.length} ${nodes.length === 1 ? 'node' : 'nodes'}, ${sum('GPU')} GPUs and ${sum('CPU')} CPUs`;
}

interface Ensure {
  name: string;
  ray: RayConnection;
  nodes: readonly RayNode[];
  place: RayPlace;
  pack: RayWorkerPackage;
  deps: SetUpDeps;
}

async function ensureRayWorker(input: Ensure): Promise<Connection> {
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
    await deps.say('the ray-worker there is dead; it is started again');
    await end(ray, actor);
    return start(input, wanted ?? headOf(nodes), fresh);
  }
  if (place.sharedRoot.startsWith('/') && trimmed(found.sharedRoot) !== trimmed(place.sharedRoot))
    throw new SetupError(
      `The ray-worker there uses the shared root ${found.sharedRoot}, not ${place.sharedRoot}.`,
      `Pass --shared-root ${found.sharedRoot}; or, once nothing runs there, end it with \`echelon ray kill ${place.address} ${ACTOR.name}\` and add the cluster again.`,
    );
  const why = whyReplace(found, { place, pack, wanted });
  if (why === undefined) {
    await deps.say(`found the ray-worker ${found.version} on node ${found.nodeId.slice(0, 12)}`);
    if (compareVersions(found.version, pack.version) > 0)
      deps.warn(
        `The ray-worker there is of version ${found.version}, newer than ${pack.version} here.`,
        'Bring the dispatchers to that version.',
      );
    return found;
  }
  await deps.say(`replacing the ray-worker ${found.version}: ${why}; what runs there goes on`);
  await end(ray, actor);
  const before = nodes.find((node) => node.id === found.nodeId) ?? headOf(nodes);
  return start(input, wanted ?? before, found);
}

function whyReplace(
  found: Connection,
  { place, pack, wanted }: { place: RayPlace; pack: RayWorkerPackage; wanted: RayNode | undefined },
): string | undefined {
  if (compareVersions(found.version, pack.version) < 0) return `version ${pack.version} is here`;
  if (wanted !== undefined && wanted.id !== found.nodeId)
    return `it shall be on node ${wanted.id.slice(0, 12)}`;
  if (place.port !== null && !found.address.endsWith(`:${place.port}`))
    return `it shall serve on port ${place.port}`;
  return undefined;
}

async function start(
  { ray, nodes, place, pack, deps }: Ensure,
  node: RayNode,
  { stateDir, sharedRoot }: Pick<Connection, 'stateDir' | 'sharedRoot'>,
): Promise<Connection> {
  await deps.say(`starting the ray-worker ${pack.version} on node ${node.id.slice(0, 12)} (${node.address})`);
  const options = {
    state_dir: stateDir,
    shared_root: sharedRoot,
    host: listeningHost(place, node, headOf(nodes)),
    port: place.port ?? 0,
    encrypt: true,
    reached_as: place.advertise?.replace(/:\d+$/, '') ?? '',
  };
  const actor = await ray.createActor(
    RAY_WORKER,
    [options],
    {},
    {
      ...ACTOR,
      lifetime: 'detached',
      // Somebody may have started one by hand in between; then there is one, and that will do.
      getIfExists: true,
      numCpus: 0,
      maxRestarts: -1,
      maxTaskRetries: -1,
      maxConcurrency: MAX_CONCURRENCY,
      nodeId: node.id,
      runtimeEnv: { py_modules: [packageUri(pack.zip)], env_vars: { RAY_USAGE_STATS_ENABLED: '0' } },
    },
  );
  return parseConnection(await actor.call('connection', [], {}, { timeoutMs: CONNECTION_MS }));
}

async function findActor(ray: RayConnection): Promise<ActorHandle | undefined> {
  try {
    return await ray.getActor(ACTOR.name, { namespace: ACTOR.namespace });
  } catch (error) {
    if (error instanceof RayPythonError && error.pythonType === 'ValueError') return undefined;
    throw error;
  }
}

async function connectionOf(actor: ActorHandle): Promise<Connection | 'dead'> {
  try {
    return parseConnection(await actor.call('connection', [], {}, { timeoutMs: CONNECTION_MS }));
  } catch (error) {
    if (error instanceof RayActorDiedError) return 'dead';
    if (error instanceof RayPythonError && error.pythonType === 'AttributeError')
      throw new SetupError(
        'The ray-worker there is too old to be asked for its connection.',
        'On the cluster: python -m echelon_rayworker.start --replace --state-dir with the directory that it has; then add the cluster again.',
        error,
      );
    throw error;
  }
}

/** Kills the actor and waits until its name is free. */
async function end(ray: RayConnection, actor: ActorHandle): Promise<void> {
  await actor.kill().catch((error: unknown) => {
    if (!(error instanceof RayActorDiedError)) throw error;
  });
  const deadline = Date.now() + END_MS;
  while (await findActor(ray)) {
    if (Date.now() > deadline)
      throw new SetupError('The ray-worker there does not end.', 'The logs of Ray say more; then try again.');
    await delay(50);
  }
}

function parseConnection(answer: unknown): Connection {
  if (!(answer instanceof Uint8Array))
    throw new SetupError(
      'The ray-worker there answered with something else.',
      'End it and add the cluster again.',
    );
  return JSON.parse(Buffer.from(answer).toString('utf8')) as Connection;
}

function findNode(nodes: readonly RayNode[], wanted: string): RayNode {
  const found = nodes.filter(
    ({ id, address, hostname }) =>
      address === wanted || hostname === wanted || (wanted.length >= 8 && id.startsWith(wanted)),
  );
  if (found.length === 1) return found[0]!;
  const known = nodes.map(({ id, address }) => `${id.slice(0, 12)} (${address})`).join(', ');
  throw new SetupError(
    `${found.length === 0 ? 'No node' : 'More than one node'} of the cluster is ${wanted}.`,
    `Name one of these by its id or address: ${known}`,
  );
}

function headOf(nodes: readonly RayNode[]): RayNode {
  const head = nodes.find((node) => node.isHead) ?? nodes[0];
  if (head === undefined) throw new SetupError('The cluster has no live node.', 'Start one, then try again.');
  return head;
}

/**
 * Where Ray itself listens on that node, and nowhere else. Where Ray is spoken to over loopback, the dispatchers are on
 * the head's own machine, and the ray-worker there has no reason to be reachable from others.
 */
export function listeningHost(
  { address, advertise }: Pick<RayPlace, 'address' | 'advertise'>,
  node: Pick<RayNode, 'id' | 'address'>,
  head: Pick<RayNode, 'id'>,
): string {
  const near = advertise === null && isLoopback(address.replace(/^ray:\/\//, ''));
  return near && node.id === head.id ? '127.0.0.1' : node.address;
}

/** Sees that this very ray-worker answers at `address` to this process. */
async function reach(
  address: string,
  { token, ca, generation }: Connection,
  deps: SetUpDeps,
): Promise<RayWorkerDescription> {
  try {
    await checkHealth({ address, ca }, deps.reachMs ?? REACH_MS);
  } catch (error) {
    throw new SetupError(
      `The ray-worker runs, but ${address} cannot be reached from here.`,
      isLoopback(address)
        ? 'It listens on the loopback address of its own machine. Start Ray with --node-ip-address set to an address that the dispatchers reach, or run a dispatcher on that machine.'
        : `Open TCP port ${portOf(address)} of ${address.slice(0, -portOf(address).length - 1)} to the dispatchers (firewall, security group). --port chooses the port; on Kubernetes publish it (NodePort, LoadBalancer) and pass the address that leads there with --advertise host:port.`,
      error,
    );
  }
  const client = createRayWorkerClient({ address, token, ca });
  try {
    const description = await client.describe(deps.signal);
    if (description.generation !== generation) throw new Error('another generation');
    return description;
  } catch (error) {
    throw new SetupError(
      `Somebody else answers at ${address}: not the ray-worker of this cluster.`,
      'Another program has that address for the dispatchers; --advertise host:port names the one that leads to the cluster.',
      error,
    );
  } finally {
    client.close();
  }
}

const portOf = (address: string): string => address.slice(address.lastIndexOf(':') + 1);
const trimmed = (path: string): string => path.replace(/(?<=.)\/+$/, '');

function isLoopback(address: string): boolean {
  return /^(127\.|localhost:|\[::1\]:)/.test(address);
}
