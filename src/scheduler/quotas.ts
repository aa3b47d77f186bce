import type { Waiting } from '../store/queue/contract.ts';
import { type Amount, EPSILON } from './nodes.ts';

/** What the schedule is told of a project; see src/schemas/project.ts. */
export interface ProjectPolicy {
  /** Of its share of the clusters; above 0. */
  weight: number;
  /** GPUs that it may hold at a time; null: no limit. */
  gpuQuota: number | null;
  /** None of its experiments starts: why, in words that follow "the queue of PROJECT is paused". */
  paused?: string | null;
}

/** A project of which nothing is known. */
export const DEFAULT_POLICY: ProjectPolicy = { weight: 1, gpuQuota: null };

/**
 * GPU quotas during a schedule.
 *
 * What always holds: GPUs that a project holds, with those chosen in this round, never exceed its quota. One that
 * waits for its project's GPUs is not overtaken by others of its project that take some: so a large one gets its turn.
 */
export interface Quotas {
  /** Why the project's quota has no room for it now, or null. Such a one holds nobody up but its own project. */
  refusal(item: Waiting): string | null;
  /** Whether one of the project waits for the quota: no other that takes GPUs starts. */
  isFull(project: string): boolean;
  /** It starts. */
  take(item: Waiting): void;
  /** It is next on a cluster and waits for room: what it will take stays free for it. */
  keep(item: Waiting): void;
}

/** Where no project has a quota. */
export const NO_QUOTAS: Quotas = { refusal: () => null, isFull: () => false, take() {}, keep() {} };

interface Account {
  used: number;
  kept: number;
  quota: number;
  /** The first that waits for the quota. */
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
      quota === null ? null : { used: held.get(project)?.gpus ?? 0, kept: 0, quota, first: null };
    accounts.set(project, account);
    return account;
  }

  return {
    refusal({ experiment, project, gpus }) {
      const account = gpus > 0 ? accountOf(project) : null;
      if (account === null) return null;
      const { quota, used, kept } = account;
      if (gpus > quota + EPSILON)
        return `can never start: needs ${count(gpus)}, and project ${project} may hold ${quota} at a time`;
      if (account.first !== null)
        return `waits behind ${account.first}, which waits for the GPU quota of project ${project}`;
      if (used + kept + gpus <= quota + EPSILON) return null;
      account.first = experiment;
      const promised = kept > 0 ? ` and ${kept} are kept for those ahead` : '';
      return `needs ${count(gpus)}; project ${project} holds ${used} of the ${quota} that it may hold${promised}`;
    },
    isFull: (project) => (accounts.get(project)?.first ?? null) !== null,
    take({ project, gpus }) {
      const account = accountOf(project);
      if (account !== null) account.used += gpus;
    },
    keep({ project, gpus }) {
      const account = accountOf(project);
      if (account !== null) account.kept += gpus;
    },
  };
}

function count(gpus: number): string {
  return `${gpus} GPU${gpus === 1 ? '' : 's'}`;
}
