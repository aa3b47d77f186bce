import type { World } from '../world.ts';
import { type Fault, pick } from './fault.ts';

/** A world whose processes may run another version. */
export interface MixedWorld extends World {
  /** Folders with the sources of each version. */
  readonly versions: readonly string[];
}

/** Upgrades and roll-backs: processes of both versions work on the same records meanwhile. */
export const UPGRADE_FAULTS: readonly Fault<MixedWorld>[] = [
  {
    kind: 'dispatcher: SIGTERM, and a start with either version',
    outage: false,
    strike: ({ dispatchers, versions }, random) =>
      pick(random, dispatchers).replace('SIGTERM', pick(random, versions)),
  },
  {
    kind: 'dispatcher: SIGKILL, and a start with either version',
    outage: false,
    strike: ({ dispatchers, versions }, random) =>
      pick(random, dispatchers).replace('SIGKILL', pick(random, versions)),
  },
  {
    kind: 'api: SIGTERM, and a start with either version',
    outage: false,
    strike: ({ api, versions }, random) => api.replace('SIGTERM', pick(random, versions)),
  },
  {
    kind: 'all dispatchers and the api: restarted one by one with one version',
    outage: false,
    async strike({ dispatchers, api, versions }, random) {
      const version = pick(random, versions);
      for (const part of [...dispatchers, api]) await part.replace('SIGTERM', version);
    },
  },
];
