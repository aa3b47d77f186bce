import { setTimeout as delay } from 'node:timers/promises';
import type { ActorHandle } from 'ray-client-ts/actor';
import { actorClass } from 'ray-client-ts/code';
import type { RayConnection } from 'ray-client-ts/connection';
import { RayActorDiedError, RayPythonError } from 'ray-client-ts/errors';
import { packageUri } from 'ray-client-ts/packages';
import type { RayWorkerPackage } from './package.ts';
import { SetupError } from './problems.ts';

/* The ray-worker is a detached Ray actor with a fixed name: a cluster has one. */

/** Name of the actor, and its namespace. */
export const ACTOR = { name: 'echelon-ray-worker', namespace: 'echelon' } as const;

/** The shell command with which an operator ends the ray-worker of a cluster. It needs Python with Ray. */
export const killCommand = (address: string): string =>
  `python -c "import ray; ray.init('${address}', namespace='${ACTOR.namespace}'); ray.kill(ray.get_actor('${ACTOR.name}'))"`;

/** How the ray-worker of an actor is reached. */
export interface RayWorkerConnection {
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

/** Maximum number of concurrent method calls; each is short or only waits. */
const MAX_CONCURRENCY = 16;

/** The actor itself waits 60 s for its server before it reports why it does not serve. */
const CONNECTION_MS = 90_000;

const END_MS = 20_000;

/** Starts the ray-worker on that node. An actor that another process has started meanwhile is used as it is. */
export async function startActor(
  ray: RayConnection,
  { zip }: Pick<RayWorkerPackage, 'zip'>,
  nodeId: string,
  {
    stateDir,
    sharedRoot,
    host,
    port,
    reachedAs,
  }: {
    stateDir: string;
    sharedRoot: string;
    host: string;
    /** 0: a free port. */
    port: number;
    /** The host by which dispatchers reach it, if that is not its node's own address; otherwise empty. */
    reachedAs: string;
  },
): Promise<RayWorkerConnection> {
  const options = {
    state_dir: stateDir,
    shared_root: sharedRoot,
    host,
    port,
    encrypt: true,
    reached_as: reachedAs,
  };
  const actor = await ray.createActor(RAY_WORKER, [options], {
    ...ACTOR,
    lifetime: 'detached',
    // An operator may have started one by hand meanwhile.
    getIfExists: true,
    numCpus: 0,
    maxRestarts: -1,
    maxTaskRetries: -1,
    maxConcurrency: MAX_CONCURRENCY,
    schedulingStrategy: { nodeId },
    runtimeEnv: { py_modules: [packageUri(zip)], env_vars: { RAY_USAGE_STATS_ENABLED: '0' } },
  });
  return parseConnection(await actor.call('connection', { timeoutMs: CONNECTION_MS }));
}

/** The actor, which may be dead; undefined: there is none. */
export async function findActor(ray: RayConnection): Promise<ActorHandle | undefined> {
  try {
    return await ray.getActor(ACTOR.name, { namespace: ACTOR.namespace });
  } catch (error) {
    if (error instanceof RayPythonError && error.pythonType === 'ValueError') return undefined;
    throw error;
  }
}

/** The connection that the ray-worker reports. */
export async function connectionOf(actor: ActorHandle): Promise<RayWorkerConnection | 'dead'> {
  try {
    return parseConnection(await actor.call('connection', { timeoutMs: CONNECTION_MS }));
  } catch (error) {
    if (error instanceof RayActorDiedError) return 'dead';
    if (error instanceof RayPythonError && error.pythonType === 'AttributeError')
      throw new SetupError(
        'The ray-worker there is too old to report its connection.',
        'On the cluster, run python -m echelon_rayworker.start --replace --state-dir with its present directory. Then add the cluster again.',
        error,
      );
    throw error;
  }
}

/** Kills the actor and waits until its name is free. */
export async function endActor(ray: RayConnection, actor: ActorHandle): Promise<void> {
  await actor.kill().catch((error: unknown) => {
    if (!(error instanceof RayActorDiedError)) throw error;
  });
  const deadline = performance.now() + END_MS;
  while (await findActor(ray)) {
    if (performance.now() > deadline)
      throw new SetupError('The ray-worker there does not end.', 'See the logs of Ray, then try again.');
    await delay(50);
  }
}

function parseConnection(answer: unknown): RayWorkerConnection {
  if (!(answer instanceof Uint8Array))
    throw new SetupError(
      'The ray-worker there sent an answer of an unknown form.',
      'End it and add the cluster again.',
    );
  return JSON.parse(Buffer.from(answer).toString('utf8')) as RayWorkerConnection;
}
