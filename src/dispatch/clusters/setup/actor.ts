import { setTimeout as delay } from 'node:timers/promises';
import type { ActorHandle } from '../../../ray/actor.ts';
import { actorClass } from '../../../ray/code.ts';
import type { RayConnection } from '../../../ray/connection.ts';
import { RayActorDiedError, RayPythonError } from '../../../ray/errors.ts';
import { packageUri } from '../../../ray/packages.ts';
import type { RayWorkerPackage } from './package.ts';
import { SetupError } from './problems.ts';

/* The ray-worker is a detached actor of Ray, found by its name: there is one of a cluster. */

/** Name of the actor, and its namespace. */
export const ACTOR = { name: 'echelon-ray-worker', namespace: 'echelon' } as const;

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

/** Methods that may be in work at once; each is short or only waits. */
const MAX_CONCURRENCY = 16;

/** The actor itself waits 60 s for its server before it says why it does not serve. */
const CONNECTION_MS = 90_000;

const END_MS = 20_000;

/** What the actor's class is made with. */
export interface RayWorkerActorOptions {
  stateDir: string;
  sharedRoot: string;
  host: string;
  /** 0: a free one. */
  port: number;
  /** The host of the address by which it is reached, where that is not its node's own; else empty. */
  reachedAs: string;
}

/** Starts it on that node; somebody's own that has appeared in between will do. */
export async function startActor(
  ray: RayConnection,
  { zip }: Pick<RayWorkerPackage, 'zip'>,
  nodeId: string,
  { stateDir, sharedRoot, host, port, reachedAs }: RayWorkerActorOptions,
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
    // Somebody may have started one by hand in between; then there is one, and that will do.
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

/** The actor, where there is one; it may be dead. */
export async function findActor(ray: RayConnection): Promise<ActorHandle | undefined> {
  try {
    return await ray.getActor(ACTOR.name, { namespace: ACTOR.namespace });
  } catch (error) {
    if (error instanceof RayPythonError && error.pythonType === 'ValueError') return undefined;
    throw error;
  }
}

/** How it is reached, as it says itself. */
export async function connectionOf(actor: ActorHandle): Promise<RayWorkerConnection | 'dead'> {
  try {
    return parseConnection(await actor.call('connection', { timeoutMs: CONNECTION_MS }));
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
export async function endActor(ray: RayConnection, actor: ActorHandle): Promise<void> {
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

function parseConnection(answer: unknown): RayWorkerConnection {
  if (!(answer instanceof Uint8Array))
    throw new SetupError(
      'The ray-worker there answered with something else.',
      'End it and add the cluster again.',
    );
  return JSON.parse(Buffer.from(answer).toString('utf8')) as RayWorkerConnection;
}
