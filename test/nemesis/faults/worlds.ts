import { API_FAULTS } from './api.ts';
import { DISPATCHER_FAULTS } from './dispatcher.ts';
import type { Fault } from './fault.ts';
import { RAY_WORKER_FAULTS } from './ray-worker.ts';
import { REDIS_FAULTS } from './redis.ts';

/** The faults of each world. */
export const WORLDS: Readonly<Record<string, readonly Fault[]>> = {
  dispatcher: DISPATCHER_FAULTS,
  'ray-worker': RAY_WORKER_FAULTS,
  redis: REDIS_FAULTS,
  api: API_FAULTS,
  mixed: [...DISPATCHER_FAULTS, ...RAY_WORKER_FAULTS, ...REDIS_FAULTS, ...API_FAULTS],
};
