import { plural } from 'command-kit/plural';
import type { PriorityClass } from '../core/priority-class.ts';
import type { QueuedExperiment } from '../store/queue/types.ts';
import { type Amount, EPSILON } from './nodes.ts';

/** The project settings that the scheduler uses; see src/schemas/project.ts. */
export interface ProjectPolicy {
  /** Weight of its share of the clusters; above 0. */
  weight: number;
  /** Maximum number of GPUs that it may hold at a time; null: no limit. */
  gpuQuota: number | null;
  /** Maximum number of GPUs that its urgent experiments may hold at a time; null: no limit. Default: 0. */
  urgentGpuQuota?: number | null | undefined;
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
  /** Whose GPUs it counts, for example "project p". */
  holder: string;
}

/** The key of what the urgent experiments of a project hold. No project has such a name. */
function urgentOf(project: string): string {
  return `${project} urgent`;
}

/** Adds an amount to what a project holds, and to what its urgent experiments hold. A negative `times` takes it away. */
export function count(
  held: Map<string, Amount>,
  {
    project,
    priorityClass,
    gpus,
    cpus,
  }: Amount & { project: string; priorityClass?: PriorityClass | undefined },
  times = 1,
): void {
  for (const key of priorityClass === 'urgent' ? [project, urgentOf(project)] : [project]) {
    const before = held.get(key) ?? { gpus: 0, cpus: 0 };
    held.set(key, { gpus: before.gpus + times * gpus, cpus: before.cpus + times * cpus });
  }
}

/** See {@link Quotas}. */
export function createQuotas(
  held: ReadonlyMap<string, Amount>,
  policyOf: (project: string) => ProjectPolicy,
): Quotas {
  const accounts = new Map<string, Account | null>();

  function accountOf(project: string, key: string, what: 'gpuQuota' | 'urgentGpuQuota'): Account | null {
    const known = accounts.get(key);
    if (known !== undefined) return known;
    const { [what]: quota = 0 } = policyOf(project);
    const holder = `${what === 'gpuQuota' ? '' : 'the urgent part of '}project ${project}`;
    const used = held.get(key)?.gpus ?? 0;
    const account = quota === null ? null : { used, reserved: 0, quota, first: null, holder };
    accounts.set(key, account);
    return account;
  }

  /** The accounts of the project's GPUs that an experiment counts in. */
  function accountsOf({ project, priorityClass, gpus }: QueuedExperiment): Account[] {
    if (gpus <= 0) return [];
    const of = [accountOf(project, project, 'gpuQuota')];
    if (priorityClass === 'urgent') of.push(accountOf(project, urgentOf(project), 'urgentGpuQuota'));
    return of.filter((account) => account !== null);
  }

  return {
    refusal(item) {
      const { experiment, gpus } = item;
      for (const account of accountsOf(item)) {
        const { quota, used, reserved, holder } = account;
        if (gpus > quota + EPSILON)
          return `can never start: needs ${plural(gpus, 'GPU')}, and ${holder} may hold ${quota} at a time`;
        if (account.first !== null)
          return `waits for ${account.first}, which waits for the GPU quota of ${holder}`;
        if (used + reserved + gpus <= quota + EPSILON) continue;
        account.first = experiment;
        const forHeads = reserved > 0 ? ` and ${reserved} are reserved for experiments before it` : '';
        return `needs ${plural(gpus, 'GPU')}; ${holder} holds ${used} of the ${quota} that it may hold${forHeads}`;
      }
      return null;
    },
    isFull: (project) => (accounts.get(project)?.first ?? null) !== null,
    take(item) {
      for (const account of accountsOf(item)) account.used += item.gpus;
    },
    reserve(item) {
      for (const account of accountsOf(item)) account.reserved += item.gpus;
    },
  };
}
