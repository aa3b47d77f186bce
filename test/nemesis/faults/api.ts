import { between, type Fault } from './fault.ts';

/** Faults of the api. */
export const API_FAULTS: readonly Fault[] = [
  { kind: 'api: SIGKILL', outage: false, strike: (world) => world.api.replace() },
  {
    kind: 'api: SIGSTOP',
    outage: false,
    strike: (world, random) => world.api.freeze(between(random, 200, 8_000)),
  },
  { kind: 'connections to the api: cut', outage: false, strike: async ({ apiProxy }) => apiProxy.reset() },
];
