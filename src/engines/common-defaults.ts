import type { ResolvedRule } from '../schemas/rules.ts';

/**
 * Defaults of the fields that every spec has. `rules` are empty here: the standard rules are filled in for all engines
 * at once.
 */
export const COMMON_DEFAULTS = {
  project: 'default',
  cluster: null,
  clusterLabels: {},
  tags: [] as string[],
  priority: 0,
  priorityClass: 'normal',
  maxAttempts: 3,
  maxClusterFaults: 20,
  gracePeriodSeconds: 30,
  timeoutSeconds: null,
  deadline: null,
  env: {},
  secrets: {},
  checkpointStore: null,
  rules: [] as ResolvedRule[],
} as const;
