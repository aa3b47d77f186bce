import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { connectTo } from '../../support/dispatch.ts';
import { type RoleProcess, startSystem, TOKEN } from '../../support/system.ts';
import { pick } from '../faults/fault.ts';
import { createOwned, type Observed } from '../world.ts';
import { leftOnMachine, violationsOf } from './checks.ts';
import { CLUSTER, freeze, type Process, rayWorkerOf, redisOf, send } from './parts.ts';
import { readWitness, type Witness } from './witness.ts';

/** The lease of an attempt. */
export const LEASE_MS = 2_500;
const DISPATCHERS = 2;
/** More than this machine may have: most drivers wait. */
const RAY_CPUS = 8;

/** The processes that faults happen to. */
export type Target = 'api' | 'dispatcher' | 'ray-worker' | 'supervisor' | 'driver' | 'Redis';

/** The whole system: Ray, its ray-worker, supervisors and drivers, dispatchers, an api and Redis. */
export interface SystemWorld extends Observed {
  readonly witness: Witness;
  /** Attempts whose driver or supervisor a fault has killed, as `experiment/attempt`. */
  readonly killed: ReadonlySet<string>;
  part(target: Target, random: () => number): Process;
}

/** Starts a {@link SystemWorld}. The caller must `stop()` it. */
export async function startSystemWorld(): Promise<SystemWorld> {
  const owned = createOwned();
  try {
    const parts = await startIn(owned);
    const world: SystemWorld = {
      ...parts,
      selfEnded: owned.selfEnded,
      stop: owned.stop,
      violations: (history) => violationsOf(history, world),
      left: leftOnMachine,
    };
    return world;
  } catch (error) {
    await owned.stop();
    throw error;
  }
}

async function startIn(
  owned: ReturnType<typeof createOwned>,
): Promise<Omit<SystemWorld, 'selfEnded' | 'stop'>> {
  const directory = mkdtempSync(join(tmpdir(), 'wit-'));
  owned.own({ stop: async () => rmSync(directory, { recursive: true }) });
  const environment = {
    ...process.env,
    // A variable of the campaign, and none of Echelon's settings.
    ECHELON_STARVED: undefined,
    PYTHONPATH: join(import.meta.dirname, 'witness'),
    WITNESS_DIRECTORY: directory,
    RAY_OVERRIDE_RESOURCES: JSON.stringify({ CPU: RAY_CPUS }),
  };
  const system = owned.own(await startSystem({ leaseMs: LEASE_MS, environment }));
  const { redis, cluster } = system.stack;
  const url = 'path' in redis ? redis.path : redis.url;
  const connected = connectTo({ url }, join(system.stateDir, 'archive'));
  owned.own({ stop: () => connected.close() });

  const startRole = (name: string, start: () => Promise<RoleProcess>) =>
    owned.startPart(name, async () => {
      const { kill, ended } = await start();
      return { kill, exited: ended, tell: () => {} };
    });
  const apis = [system.api];
  const api = await startRole('the api', async () => apis.pop() ?? (await system.startApi()));
  const dispatchers = await Promise.all(
    Array.from({ length: DISPATCHERS }, () => startRole('a dispatcher', () => system.startDispatcher())),
  );
  const witness = readWitness({ directory, stateDir: join(cluster.sharedRoot, 'echelon', CLUSTER) });
  const [rayWorker, ownRedis] = [rayWorkerOf(system, connected), redisOf(system, connected)];
  const killed = new Set<string>();
  return {
    bench: { store: connected.store, rayWorker: witness.rayWorker },
    cluster: CLUSTER,
    api: { url: system.url, token: TOKEN },
    witness,
    killed,
    part(target, random) {
      if (target === 'supervisor' || target === 'driver')
        return partOfAttempt(target, { random, witness, killed });
      const others = { api, dispatcher: pick(random, dispatchers), 'ray-worker': rayWorker, Redis: ownRedis };
      return others[target];
    },
  };
}

/** A supervisor or a driver of a random attempt, if one runs. */
function partOfAttempt(
  target: 'supervisor' | 'driver',
  { random, witness, killed }: { random: () => number; witness: Witness; killed: Set<string> },
): Process {
  const running = witness.rayWorker.running();
  const pidOf = (lines: typeof running) => {
    const line = lines.length > 0 ? pick(random, lines) : undefined;
    return { line, pid: line && witness.processesOf(line)?.[target] };
  };
  return {
    async replace(signal) {
      // A second loss of the same experiment would lengthen its wait for the next attempt.
      const { line, pid } = pidOf(running.filter(({ attempt }) => attempt === 1));
      if (!line || !pid) return;
      killed.add(`${line.experiment}/${line.attempt}`);
      send(pid, signal);
    },
    freeze: (ms) => freeze(pidOf(running).pid, ms),
  };
}
