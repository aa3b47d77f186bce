import type { Resources } from './cluster.ts';
import { functionRef, sourceFunction } from './code.ts';
import type { RayConnection } from './connection.ts';
import type { CallLimits } from './limits.ts';

/** How the bundles of a group lie on the nodes. The STRICT ones hold or the group waits; the others are best effort. */
export type PlacementStrategy = 'PACK' | 'SPREAD' | 'STRICT_PACK' | 'STRICT_SPREAD';

/** Options of a placement group. */
export interface PlacementGroupOptions extends CallLimits {
  /** Default: `PACK`. */
  readonly strategy?: PlacementStrategy;
  /** A name in the connection's namespace, for `getPlacementGroup`. */
  readonly name?: string;
  /** `detached`: the group outlives the session, until it is removed. Default: it ends with the session. */
  readonly lifetime?: 'detached';
}

/** What a group needs of its connection. */
export interface PlacementGroupCalls {
  /** Resolves once the group has its resources. */
  ready(group: PlacementGroup, limits: CallLimits): Promise<void>;
  remove(group: PlacementGroup, limits: CallLimits): Promise<void>;
}

/**
 * Resources reserved together, on one node or on several. Tasks and actors run in a bundle by
 * `schedulingStrategy: { placementGroup, bundle }`. The group keeps its resources until it is removed.
 */
export class PlacementGroup {
  /** The id in hexadecimal. */
  readonly id: string;
  /** The resources of each bundle. */
  readonly bundles: readonly Resources[];
  readonly #calls: PlacementGroupCalls;

  constructor(id: string, bundles: readonly Resources[], calls: PlacementGroupCalls) {
    this.id = id;
    this.bundles = bundles;
    this.#calls = calls;
  }

  /**
   * Resolves once every bundle has its resources. A group that no node can hold is no error of Ray: it waits, so give
   * `timeoutMs` or `signal`. Throws RayPythonError if the group was removed.
   */
  ready(limits: CallLimits = {}): Promise<void> {
    return this.#calls.ready(this, limits);
  }

  /** Gives the resources back. Ray kills the tasks and actors that use them. */
  remove(limits: CallLimits = {}): Promise<void> {
    return this.#calls.remove(this, limits);
  }
}

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
