import type { ExperimentSpec } from 'echelon-client';
import { between, type Fault } from '../faults/fault.ts';
import type { KindOf } from '../faults/worlds.ts';
import { LEASE_MS, type SystemWorld, startSystemWorld, type Target } from './world.ts';

const TARGETS: readonly Target[] = ['api', 'dispatcher', 'ray-worker', 'supervisor', 'driver', 'Redis'];
const FROZEN = 'SIGSTOP, longer than a lease';

/** The world of real processes. */
export const SYSTEM: KindOf<SystemWorld> = {
  faults: TARGETS.flatMap((target) => {
    // Nothing at all can be recorded without Redis.
    const outage = target === 'Redis';
    const kill: Fault<SystemWorld>['strike'] = (world, random) =>
      world.part(target, random).replace('SIGKILL');
    const freeze: Fault<SystemWorld>['strike'] = (world, random) =>
      world.part(target, random).freeze(between(random, 1.2 * LEASE_MS, 2.5 * LEASE_MS));
    return [
      { kind: `${target}: SIGKILL`, outage, strike: kill },
      { kind: `${target}: ${FROZEN}`, outage, strike: freeze },
    ];
  }),
  // Two leases and 20 s: times of most faults count from their beginning, and a ray-worker takes seconds to start.
  boundMs: 2 * LEASE_MS + 20_000,
  running: 20,
  specOf,
  start: startSystemWorld,
};

const COMMON = {
  name: 'one of many',
  maxAttempts: 20,
  rules: [],
  gracePeriodSeconds: 1,
  resources: { cpus: 0.3 },
};

/** Mostly drivers that stream recorded batches, some of which are quiet for longer than a lease; few real trainings. */
function specOf(random: () => number): ExperimentSpec {
  if (random() < 0.04)
    return {
      ...COMMON,
      engine: 'local',
      estimator: { name: 'hgpo', historyLength: 2 },
      rollout: { groups: 2, groupSize: 4 },
      evaluation: { games: 4 },
      training: { steps: 12, saveEvery: 2, stepDelaySeconds: 1 },
    };
  const quiet = random() < 0.15;
  const batches = quiet ? 6 : between(random, 15, 35);
  return { ...COMMON, engine: 'replay', replay: { batches, delaySeconds: quiet ? 6 : 1.5 + random() } };
}
