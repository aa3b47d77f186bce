import { sees } from '../../../core/scopes.ts';
import { endsBy } from '../../../scheduler/preemption.ts';
import { expectedEnd } from '../../../scheduler/spans.ts';
import type { AllocationList } from '../../../schemas/clusters.ts';
import type { Allocation } from '../../../store/clusters/types.ts';
import type { App, RouteDeps } from '../../server/deps.ts';
import { route } from '../../server/route.ts';

/** Allocations in one answer; `total` says how many there are. */
const MAX_ITEMS = 2000;

/** GET /v1/allocations. */
export function addAllocations(app: App, deps: RouteDeps): void {
  route(app, {
    at: 'GET /v1/allocations',
    operationId: 'listAllocations',
    summary: 'List the GPUs and CPUs that attempts hold on each node, with expected ends',
    description: `An experiment on several nodes has one item per node. The expected end follows from the measured steps, from the sweep or from the timeout; it is null if nothing is known. At most ${MAX_ITEMS} items are returned. A key that is bound to a project sees that project only.`,
    tag: 'queue',
    answer: 'AllocationList',
    handler: async ({ caller }): Promise<AllocationList> => {
      const clusters = await deps.store.clusters.list();
      const found = await Promise.all(
        clusters.map(async ({ name }) => {
          const { items } = await deps.store.clusters.allocations(name);
          const seen = items.filter(({ project }) => sees(caller, project));
          return seen.map((item) => ({ ...item, cluster: name }));
        }),
      );
      const held = found.flat();
      return { total: held.length, items: await described(deps, held.slice(0, MAX_ITEMS)) };
    },
  });
}

async function described(
  { store, clock }: Pick<RouteDeps, 'store' | 'clock'>,
  held: readonly (Allocation & { cluster: string })[],
): Promise<AllocationList['items']> {
  const ids = [...new Set(held.map(({ experiment }) => experiment))];
  const [paces, leaving] = await Promise.all([store.queue.paces(ids), store.queue.leaving()]);
  return held.map(({ experiment, project, cluster, node, gpus, cpus }) => {
    const pace = paces.get(experiment);
    const { name = experiment, attempt = 0, state = null } = pace ?? {};
    const expected = pace === undefined ? null : expectedEnd(pace, clock.now());
    const leavesAt = leaving.get(experiment)?.until ?? null;
    const end = leavesAt === null ? expected : endsBy(expected, leavesAt, clock.now());
    return {
      experiment,
      name,
      project,
      attempt,
      state,
      cluster,
      node,
      gpus,
      cpus,
      startedAt: pace?.startedAt ?? null,
      leavesAt,
      end: end && {
        endAt: Math.round(end.likely),
        earliest: Math.round(end.early),
        latest: Math.round(end.late),
      },
    };
  });
}
