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
  return (projects) => {
    for (const one of [gpus, share, weight, paused]) one.reset();
    for (const { name: project, ...figures } of projects) {
      gpus.set({ project, kind: 'allocated' }, figures.gpusHeld);
      if (figures.gpuQuota !== null) gpus.set({ project, kind: 'quota' }, figures.gpuQuota);
      share.set({ project }, figures.share);
      weight.set({ project }, figures.weight);
      paused.set({ project }, figures.paused ? 1 : 0);
    }
  };
}
