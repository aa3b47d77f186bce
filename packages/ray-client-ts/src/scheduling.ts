import type { Resources } from './cluster.ts';
import type { CallLimits } from './limits.ts';
import { PyCall, PyGlobal } from './pickle/values.ts';

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

/** Runs on this node. */
export interface NodeAffinity {
  /** Hexadecimal id of the node, as `nodes()` states it. */
  readonly nodeId: string;
  /**
   * Whether another node will do if this one is gone or too small. Default: false, and then RayRequestError (NOT_FOUND)
   * if the node is not alive. A node that is merely busy is waited for in either case.
   */
  readonly soft?: boolean;
}

/** Runs in a bundle of a placement group. */
export interface PlacementGroupAffinity {
  readonly placementGroup: PlacementGroup;
  /** Index of the bundle, from 0. Default: any bundle with room. */
  readonly bundle?: number;
  /** Whether the tasks and actors that this one starts run in the group as well. Default: false. */
  readonly captureChildTasks?: boolean;
}

/**
 * Where a task or an actor runs. `DEFAULT`: Ray prefers nodes that are in use, then spreads. `SPREAD`: Ray spreads over
 * the nodes, best effort.
 */
export type SchedulingStrategy = 'DEFAULT' | 'SPREAD' | NodeAffinity | PlacementGroupAffinity;

const strategies = (name: string): PyGlobal => new PyGlobal('ray.util.scheduling_strategies', name);
const NODE_AFFINITY = strategies('NodeAffinitySchedulingStrategy');
const PLACEMENT_GROUP_AFFINITY = strategies('PlacementGroupSchedulingStrategy');
const PLACEMENT_GROUP = new PyGlobal('ray.util.placement_group', 'PlacementGroup');
const PLACEMENT_GROUP_ID = new PyGlobal('ray._raylet', 'PlacementGroupID');

/** The node outside which nothing may run; undefined if the strategy allows several. */
export function requiredNode(strategy: SchedulingStrategy | undefined): string | undefined {
  if (typeof strategy !== 'object' || !('nodeId' in strategy) || strategy.soft === true) return undefined;
  return strategy.nodeId;
}

/** The strategy as Ray's own class. Throws TypeError for a strategy that does not exist. */
export function encodeStrategy(strategy: SchedulingStrategy): PyCall | string {
  if (strategy === 'DEFAULT' || strategy === 'SPREAD') return strategy;
  if (typeof strategy === 'object' && 'nodeId' in strategy) {
    return new PyCall(NODE_AFFINITY, strategy.nodeId, strategy.soft ?? false);
  }
  if (typeof strategy === 'object' && 'placementGroup' in strategy) {
    const { placementGroup, bundle = -1, captureChildTasks = false } = strategy;
    const id = new PyCall(PLACEMENT_GROUP_ID, Buffer.from(placementGroup.id, 'hex'));
    // With its bundles Ray need not ask the head for them at each task.
    const group = new PyCall(PLACEMENT_GROUP, id, placementGroup.bundles);
    return new PyCall(PLACEMENT_GROUP_AFFINITY, group, bundle, captureChildTasks);
  }
  throw new TypeError(
    `schedulingStrategy must be "DEFAULT", "SPREAD", { nodeId } or { placementGroup }, not ${JSON.stringify(strategy)}`,
  );
}
