import type { COMMON_DEFAULTS } from '../common-defaults.ts';
import type { ResolvedReplay } from './spec.ts';

/** Values of the `replay` engine where a spec has none. */
export const REPLAY_DEFAULTS: Omit<ResolvedReplay, 'engine' | 'name' | keyof typeof COMMON_DEFAULTS> = {
  resources: { nodes: 1, gpus: 0, cpus: 1 },
  replay: {
    fault: 'none',
    batches: 0,
    delaySeconds: 0,
    stopAfter: 0,
    exitCode: 0,
    logLines: 0,
    hang: false,
    ignoreSigterm: false,
  },
};
