import { plural } from 'echelon-verify/text/plural';
import type { QueuedExperiment } from '../store/queue/types.ts';
import { type Amount, EPSILON } from './nodes.ts';

/** The project settings that the scheduler uses; see src/schemas/project.ts. */
export interface ProjectPolicy {
  /** Weight of its share of the clusters; above 0. */
  weight: number;
  /** Maximum number of GPUs that it may hold at a time; null: no limit. */
  gpuQuota: number | null;
  /** If set, none of its experiments starts. The words follow "the queue of PROJECT is paused". */
  paused?: string | null;
}

/** The policy of a project without settings. */
export const DEFAULT_POLICY: ProjectPolicy = { weight: 1, gpuQuota: null };

/**
 * GPU quotas during a scheduling round.
 *
 * Invariant: the GPUs that a project holds, including the starts of this round, never exceed its quota. An experiment that
 * waits for the quota is not overtaken by other experiments of its project that need GPUs, so a large one gets its turn.
 */
export interface Quotas {
  /** Why the project's quota has no room for the experiment now, or null. A refusal delays no other project. */
  refusal(item: QueuedExperiment): string | null;
  /** Whether an experiment of the project waits for the quota: no other one that needs GPUs starts. */
  isFull(project: string): boolean;
  /** Counts the GPUs of an experiment that starts. */
  take(item: QueuedExperiment): void;
  /** Reserves the GPUs of the blocked head of a cluster within the quota. */
  reserve(item: QueuedExperiment): void;
}

/** For a round in which no project has a quota. */
export const NO_QUOTAS: Quotas = { refusal: () => null, isFull: () => false, take() {}, reserve() {} };

interface Account {
  used: number;
  reserved: number;
  quota: number;
  /** The first experiment that waits for the quota. */
  first: string | null;
}

/** See {@link Quotas}. */
export function createQuotas(
  held: ReadonlyMap<string, Amount>,
  policyOf: (project: string) => ProjectPolicy,
): Quotas {
  const accounts = new Map<string, Account | null>();

  function accountOf(project: string): Account | null {
    const known = accounts.get(project);
    if (known !== undefined) return known;
    const quota = policyOf(project).gpuQuota;
    const account =
      quota === null ? null : { used: held.get(project)?.gpus ?? 0, reserved: 0, quota, first: null };
    accounts.set(project, account);
    return account;
  }

  return {
    refusal({ experiment, project, gpus }) {
      const account = gpus > 0 ? accountOf(project) : null;
      if (account === null) return null;
      const { quota, used, reserved } = account;
      if (gpus > quota + EPSILON)
        return `can never start: needs ${plural(gpus, 'GPU')}, and project ${project} may hold ${quota} at a time`;
      if (account.first !== null)
        return `waits for ${account.first}, which waits for the GPU quota of project ${project}`;
      if (used + reserved + gpus <= quota + EPSILON) return null;
      account.first = experiment;
      const forHeads = reserved > 0 ? ` and ${reserved} are reserved for experiments before it` : '';
      return `needs ${plural(gpus, 'GPU')}; project ${project} holds ${used} of the ${quota} that it may hold${forHeads}`;
    },
    isFull: (project) => (accounts.get(project)?.first ?? null) !== null,
    take({ project, gpus }) {
      const account = accountOf(project);
      if (account !== null) account.used += gpus;
    },
    reserve({ project, gpus }) {
      const account = accountOf(project);
      if (account !== null) account.reserved += gpus;
    },
  };
}
