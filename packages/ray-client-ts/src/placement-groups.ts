import type { Resources } from './cluster.ts';
import { functionRef, sourceFunction } from './code.ts';
import type { RayConnection } from './connection.ts';
import { PlacementGroup, type PlacementGroupCalls } from './scheduling.ts';

/** Id and bundles of a group, as the functions below return them. */
type Described = [id: string, bundles: Resources[]];

const CREATE = sourceFunction<(bundles: readonly Resources[], options: object) => Described>(
  `def create(bundles, options):
    from ray.util.placement_group import placement_group
    group = placement_group(bundles, **options)
    return [group.id.hex(), bundles]
`,
  'create',
);
const FIND = sourceFunction<(name: string) => Described>(
  `def find(name):
    from ray.util.placement_group import get_placement_group
    group = get_placement_group(name)
    return [group.id.hex(), [dict(bundle) for bundle in group.bundle_specs]]
`,
  'find',
);
const REMOVE = sourceFunction<(id: Uint8Array) => null>(
  `def remove(id):
    from ray._raylet import PlacementGroupID
    from ray.util.placement_group import PlacementGroup, remove_placement_group
    remove_placement_group(PlacementGroup(PlacementGroupID(id)))
`,
  'remove',
);
/** Any function: run in a group, it returns once the group is there. */
const NOTHING = functionRef('posixpath:join');

/** The operations on placement groups. The protocol has none: each is a small task on the cluster. */
export function createPlacementGroups(
  ray: Pick<RayConnection, 'call' | 'task' | 'get' | 'cancel' | 'release'>,
): Pick<RayConnection, 'createPlacementGroup' | 'getPlacementGroup'> {
  const calls: PlacementGroupCalls = {
    async ready(group, limits) {
      const schedulingStrategy = { placementGroup: group };
      const probe = await ray.task(NOTHING, ['', ''], { numCpus: 0, schedulingStrategy, ...limits });
      try {
        await ray.get(probe, limits);
      } catch (error) {
        await ray.cancel(probe).catch(() => {});
        throw error;
      } finally {
        void ray.release(probe).catch(() => {});
      }
    },
    async remove(group, limits) {
      await ray.call(REMOVE, [Buffer.from(group.id, 'hex')], { numCpus: 0, ...limits });
    },
  };
  const handle = ([id, bundles]: Described): PlacementGroup => new PlacementGroup(id, bundles, calls);
  return {
    createPlacementGroup: async (bundles, { timeoutMs, signal, ...options } = {}) =>
      handle(await ray.call(CREATE, [bundles, options], { numCpus: 0, timeoutMs, signal })),
    getPlacementGroup: async (name, limits = {}) =>
      handle(await ray.call(FIND, [name], { numCpus: 0, ...limits })),
  };
}
