import { between, type Fault } from './fault.ts';

/** Faults of the api. */
export const API_FAULTS: readonly Fault[] = [
  { kind: 'api: SIGKILL', outage: false, strike: ({ api }) => api.replace('SIGKILL') },
  {
    kind: 'api: SIGSTOP',
    outage: false,
    strike: ({ api }, random) => api.freeze(between(random, 200, 8_000)),
  },
  { kind: 'connections to the api: cut', outage: false, strike: async ({ apiProxy }) => apiProxy.reset() },
];
