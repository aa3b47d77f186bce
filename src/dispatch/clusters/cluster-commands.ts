import { nounOf, plural } from 'command-kit/plural';
import { newCommandId } from '../../core/ids.ts';
import { createRayWorkerClient } from '../../rpc/client.ts';
import type { Cluster, RayPlace } from '../../store/clusters/types.ts';
import type { Store } from '../../store/store.ts';
import { toSeen } from './clusters.ts';
import type { CommandWork, RunCommand } from './command-runner.ts';
import { ownedBy } from './ray-workers.ts';
import { killCommand } from './setup/actor.ts';
import type { RayWorkerPackage } from './setup/package.ts';
import { SetupError, toSetupError } from './setup/problems.ts';
import { endRayWorker, setUpCluster } from './setup/set-up.ts';
import { cancelAll } from './slurm/cancel-all.ts';
import { createSlurm, type Slurm } from './slurm/commands.ts';

/** The request of an `add`. Its secrets are stored separately, as JSON of {@link AddSecret}. */
export type AddRequest = Omit<RayPlace, 'token' | 'tls'> & {
  backfill: boolean;
  /** A dispatcher requested it because the ray-worker stopped answering: the operator's settings stay. */
  repair?: boolean;
  /** The labels by which experiments select the cluster. If omitted, they stay as they are. */
  labels?: Readonly<Record<string, string>>;
  /** Environment variables of every driver there. If omitted, they stay as they are. */
  env?: Readonly<Record<string, string>>;
} & Pick<Cluster, 'storage' | 'nodeTypes'>;

/** The part of an `add` that is never shown. */
export type AddSecret = Pick<RayPlace, 'token' | 'tls'>;

/**
 * Requests that a silent cluster is added again from its record, unless a command on it is already open. After a restart
 * of Ray, this starts a new ray-worker, which finds its attempts again.
 */
export async function requestRepair(store: Store, { name, ray, backfill, slurm }: Cluster): Promise<void> {
  // Its rounds know whether the head of a cluster from Slurm runs, and register it again.
  if (ray === undefined || slurm !== undefined) return;
  const { token, tls, ...place } = ray;
  await requestAdd(store, name, { ...place, backfill, repair: true }, { token, tls });
}

/** Requests that a cluster is added, unless a command on it is already open. */
export async function requestAdd(
  store: Store,
  name: string,
  request: AddRequest,
  secret: AddSecret,
): Promise<void> {
  if ((await store.commands.open()).some(({ cluster }) => cluster === name)) return;
  const id = newCommandId();
  await store.commands.create({ id, cluster: name, kind: 'add', request, secret: JSON.stringify(secret) });
}

/** The services that run commands on clusters. */
interface CommandServices {
  store: Store;
  pack: () => RayWorkerPackage;
  /** See `DispatcherDeps`. */
  installation?: string | undefined;
  preflight: RunCommand;
  slurm?: Slurm | undefined;
  /** Parameters so that tests can reach them. */
  setUp?: typeof setUpCluster;
  endRayWorker?: typeof endRayWorker;
}

/** Runs commands on clusters. Every command can be interrupted at any line and begun again. */
export function createClusterCommands(deps: CommandServices): RunCommand {
  const kinds = { add, drain, remove, preflight: deps.preflight };
  return async (work) => {
    try {
      await kinds[work.kind](work, deps);
    } catch (error) {
      const { address } = (work.request ?? {}) as Partial<AddRequest>;
      throw toSetupError(error, address ?? work.cluster);
    }
  };
}

async function add(work: CommandWork, deps: CommandServices): Promise<void> {
  const { store } = deps;
  const { cluster: name, say, warn, signal } = work;
  const { backfill, repair = false, labels, env, storage, nodeTypes, ...place } = work.request as AddRequest;
  const secret = JSON.parse(work.secret ?? '{"token":null,"tls":null}') as AddSecret;
  const ray: RayPlace = { ...place, ...secret };
  const setUp = await (deps.setUp ?? setUpCluster)(name, ray, {
    pack: deps.pack,
    say,
    warn,
    signal,
    ...ownedBy(deps.installation, name),
  });
  const { address, token, ca, description } = setUp;
  const known = await store.clusters.list();
  const before = known.find((cluster) => cluster.name === name);
  if (repair && before === undefined) return;
  await refuseDuplicate(name, description.generation, known);
  if (before) await refuseOther(before, description.generation, deps);
  signal.throwIfAborted();
  const record = { name, address, token, ca, ray, backfill: repair ? before!.backfill : backfill };
  await store.clusters.put({ ...record, generation: description.generation, lastSeenAt: null, nodes: [] });
  await store.clusters.see(name, toSeen(address, description));
  if (!repair) {
    const stated = { ...(labels && { labels }), ...(env && { env }), ...(storage && { storage }) };
    await store.clusters.set(name, { backfill: null, ...stated, ...(nodeTypes && { nodeTypes }) });
    await store.clusters.setDraining(name, false);
  }
  await say(before ? 'the cluster is up to date' : 'the cluster takes experiments');
  await store.wake('queue');
}

/** With two names for one Ray cluster, its GPUs would be allocated twice. */
async function refuseDuplicate(name: string, generation: string, known: readonly Cluster[]): Promise<void> {
  const duplicate = known.find((cluster) => cluster.name !== name && cluster.generation === generation);
  if (duplicate)
    throw new SetupError(
      `This Ray cluster is already registered as ${duplicate.name}.`,
      `Use that name, or remove ${duplicate.name} first.`,
    );
}

async function refuseOther(
  before: Cluster,
  generation: string,
  { store }: Pick<CommandServices, 'store'>,
): Promise<void> {
  if (before.generation === null || before.generation === generation) return;
  const { items } = await store.clusters.allocations(before.name);
  if (items.length > 0 && before.ray === undefined)
    throw new SetupError(
      `${before.name} runs ${plural(items.length, 'experiment')}, and the ray-worker at this address is not the one that runs them.`,
      'Use another name, or wait until nothing runs there.',
    );
}

async function drain({ cluster, say }: CommandWork, { store }: CommandServices): Promise<void> {
  if (!(await store.clusters.setDraining(cluster, true))) throw unknown(cluster);
  const { items } = await store.clusters.allocations(cluster);
  await say(
    items.length === 0
      ? 'nothing new starts there, and nothing runs there'
      : `nothing new starts there; ${plural(items.length, 'experiment')} there ${nounOf(items.length, 'continues', 'continue')}`,
  );
}

async function remove(work: CommandWork, deps: CommandServices): Promise<void> {
  const { cluster: name, say, warn, tries } = work;
  const { store } = deps;
  const cluster = (await store.clusters.list()).find((one) => one.name === name);
  if (cluster === undefined) {
    if (tries > 1) return; // an earlier try has removed it
    throw unknown(name);
  }
  // From here on no allocation succeeds, so a cluster without allocations stays without.
  await store.clusters.setDraining(name, true);
  const { items } = await store.clusters.allocations(name);
  if (items.length > 0) {
    if (!cluster.draining) await store.clusters.setDraining(name, false);
    throw new SetupError(
      `${name} still runs ${plural(items.length, 'experiment')}: ${items.map((item) => item.experiment).join(', ')}.`,
      `Drain it (echelon clusters drain ${name}) and wait, or cancel its experiments.`,
    );
  }
  await release(cluster, deps);
  if (cluster.slurm) {
    const count = await cancelAll(deps.slurm ?? createSlurm(), cluster);
    await say(`cancelled ${plural(count, 'job')} of Slurm`);
  } else if (cluster.ray) {
    await say('ending its ray-worker');
    await (deps.endRayWorker ?? endRayWorker)(cluster.ray).catch((error: unknown) => {
      const { message } = toSetupError(error, cluster.ray!.address);
      warn(
        `Cannot end its ray-worker: ${message}`,
        `It does nothing without experiments. To end it: \`${killCommand(cluster.ray!.address)}\`.`,
      );
    });
  }
  await store.clusters.remove(name);
  await say('the cluster is removed');
}

/** Another installation may use the ray-worker from then on, or this one under another name. */
async function release(cluster: Cluster, { installation }: Pick<CommandServices, 'installation'>) {
  const client = createRayWorkerClient({
    ...cluster,
    ...ownedBy(installation, cluster.name),
    release: true,
    tries: 1,
  });
  if (cluster.asked !== undefined && cluster.slurm === undefined)
    await client.autoscale([], AbortSignal.timeout(RELEASE_MS)).catch(() => {});
  // If it does not answer, it refuses its next owner with the remedy.
  await client.describe(AbortSignal.timeout(RELEASE_MS)).catch(() => {});
  client.close();
}

const RELEASE_MS = 5_000;

function unknown(name: string): SetupError {
  return new SetupError(`There is no cluster ${name}.`, '`echelon clusters` lists the clusters.');
}
