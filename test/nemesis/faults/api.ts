import { anyShift } from './clock.ts';
import { connectionFaults } from './connection.ts';
import { between, type Fault } from './fault.ts';

/** Faults of the api. */
export const API_FAULTS: readonly Fault[] = [
  { kind: 'api: SIGKILL', outage: false, strike: ({ api }) => api.replace('SIGKILL') },
  {
    kind: 'api: SIGSTOP',
    outage: false,
    strike: ({ api }, random) => api.freeze(between(random, 200, 8_000)),
  },
  {
    kind: 'api: its clock is set, up to an hour off',
    outage: false,
    strike: async (world, random) => world.api.setClock(anyShift(random)),
  },
  ...connectionFaults('to the api', ({ apiProxy }) => apiProxy),
];
