import type { Registry } from 'prom-client';
import { gauge } from './instruments.ts';

/** A project as its gauges show it. */
export interface ProjectFigures {
  name: string;
  gpusHeld: number;
  /** Null: no limit. */
  gpuQuota: number | null;
  weight: number;
  /** The larger of its shares of all GPUs and of all CPUs, 0 to 1. */
  share: number;
  paused: boolean;
  /** Bytes in Redis, and their bound; null: no limit. */
  storeBytes: number;
  storeLimitBytes: number | null;
}

/** Gauges of projects, set anew at each call. */
export function createProjectGauges(registry: Registry): (projects: readonly ProjectFigures[]) => void {
  const gpus = gauge(
    registry,
    'echelon_project_gpus',
    'GPUs allocated to a project, and its quota if it has one',
    ['project', 'kind'],
  );
  const share = gauge(
    registry,
    'echelon_project_share',
    'Dominant share of a project: of all GPUs or of all CPUs',
    ['project'],
  );
  const weight = gauge(registry, 'echelon_project_weight', 'Weight of a project in the order of the queue', [
    'project',
  ]);
  const paused = gauge(registry, 'echelon_project_paused', '1 if no experiment of the project starts', [
    'project',
  ]);
  const store = gauge(
    registry,
    'echelon_project_store_bytes',
    'Bytes of a project in Redis, and their limit if it has one',
    ['project', 'kind'],
  );
  return (projects) => {
    for (const one of [gpus, share, weight, paused, store]) one.reset();
    for (const { name: project, ...figures } of projects) {
      gpus.set({ project, kind: 'allocated' }, figures.gpusHeld);
      if (figures.gpuQuota !== null) gpus.set({ project, kind: 'quota' }, figures.gpuQuota);
      store.set({ project, kind: 'stored' }, figures.storeBytes);
      if (figures.storeLimitBytes !== null) store.set({ project, kind: 'limit' }, figures.storeLimitBytes);
      share.set({ project }, figures.share);
      weight.set({ project }, figures.weight);
      paused.set({ project }, figures.paused ? 1 : 0);
    }
  };
}
