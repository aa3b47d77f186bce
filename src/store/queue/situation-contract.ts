import type { Project } from '../../schemas/project.ts';
import type { Cluster, Reservation } from '../clusters/contract.ts';
import type { LineWindow, Pauses } from './contract.ts';

/** What a cluster holds, and the version that a claim on it has to name. */
export interface Holding {
  version: number;
  items: Reservation[];
}

/** All that the next start is chosen from. */
export interface Situation {
  clusters: Cluster[];
  /** By cluster. */
  reservations: ReadonlyMap<string, Holding>;
  projects: Project[];
  pauses: Pauses;
  /** Versions of what projects hold; a claim against an older one is refused. */
  projectVersions: ReadonlyMap<string, number>;
  window: LineWindow;
}

/** The look at everything in one step. */
export interface SituationStore {
  /**
   * Everything as it is at one moment, with the first `perProject` of each project's line. A very long window is read
   * after the rest; the versions are then older than it, never newer than the reservations.
   */
  situation(perProject: number): Promise<Situation>;
}
