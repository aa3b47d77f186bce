import { PyCall, PyGlobal } from './pickle/values.ts';
import type { PlacementGroup } from './placement-groups.ts';

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
