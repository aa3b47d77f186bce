import { status } from '@grpc/grpc-js';
import type { RayChannel, UnaryOptions } from './channel.ts';
import { RayRequestError } from './errors.ts';
import { type CallLimits, withLimits } from './limits.ts';
import { ClusterInfoKind, type ClusterInfoResponse, UNARY } from './protocol.ts';

/** Amounts by name: `CPU`, `GPU`, `memory` (bytes), `object_store_memory` (bytes), custom resources. */
export type Resources = Readonly<Record<string, number>>;

/** One node of the cluster. */
export interface RayNode {
  /** Hexadecimal id. */
  readonly id: string;
  /** Dead nodes stay in the list. */
  readonly alive: boolean;
  readonly address: string;
  readonly hostname: string;
  readonly isHead: boolean;
  readonly resources: Resources;
  readonly labels: Readonly<Record<string, string>>;
}

/** An actor with a name. */
export interface NamedActor {
  readonly name: string;
  readonly namespace: string;
}

/** Questions about the cluster. */
export interface ClusterState {
  /** All nodes, dead ones included. */
  nodes(limits?: CallLimits): Promise<RayNode[]>;
  /** The resources of all live nodes together. Memory in bytes. */
  clusterResources(limits?: CallLimits): Promise<Resources>;
  /** The free resources; a resource that is used up entirely may be absent. Memory in bytes. */
  availableResources(limits?: CallLimits): Promise<Resources>;
  /** `host:port` of Ray's dashboard; undefined if there is none. */
  dashboardUrl(limits?: CallLimits): Promise<string | undefined>;
}

/** Answers questions about the cluster through unary calls of a session. */
export function createCluster(channel: RayChannel, clientId: string): ClusterState {
  const ask = (kind: number, what: string, limits: CallLimits = {}): Promise<ClusterInfoResponse> => {
    const options: UnaryOptions = { what, clientId, retry: true };
    const request = { type: kind };
    return withLimits(
      (signal) => channel.call(UNARY.clusterInfo, request, { ...options, signal }),
      limits,
      what,
    );
  };
  const { NODES, CLUSTER_RESOURCES, AVAILABLE_RESOURCES, DASHBOARD_URL } = ClusterInfoKind;
  return {
    nodes: async (limits) => parseNodes(jsonOf(await ask(NODES, 'nodes', limits))),
    clusterResources: async (limits) => tableOf(await ask(CLUSTER_RESOURCES, 'cluster resources', limits)),
    availableResources: async (limits) =>
      tableOf(await ask(AVAILABLE_RESOURCES, 'available resources', limits)),
    dashboardUrl: async (limits) => parseDashboard(jsonOf(await ask(DASHBOARD_URL, 'dashboard', limits))),
  };
}

/**
 * Throws {@link RayRequestError} (NOT_FOUND) unless the node is alive: older servers, asked for a node that does
 * not exist, stop answering for good.
 */
export async function assertAlive(
  cluster: Pick<ClusterState, 'nodes'>,
  nodeId: string,
  signal?: AbortSignal,
): Promise<void> {
  const nodes = await cluster.nodes({ signal });
  if (nodes.some((node) => node.alive && node.id === nodeId)) return;
  throw new RayRequestError(status.NOT_FOUND, `the cluster has no live node ${nodeId}`);
}

function jsonOf(response: ClusterInfoResponse): unknown {
  try {
    return JSON.parse(response.json ?? '');
  } catch (error) {
    throw new RayRequestError(13, 'the cluster answered with something that is no JSON', { cause: error });
  }
}

function tableOf(response: ClusterInfoResponse): Resources {
  return { ...response.resource_table?.table };
}

/** Nodes from the JSON of the server. Omitted fields are empty. */
export function parseNodes(json: unknown): RayNode[] {
  if (!Array.isArray(json)) throw new RayRequestError(13, 'the list of nodes is no list');
  return json.map(record).map((node) => {
    const resources = record(node.Resources) as Resources;
    return {
      id: text(node.NodeID),
      alive: node.Alive === true || node.alive === true,
      address: text(node.NodeManagerAddress),
      hostname: text(node.NodeManagerHostname),
      isHead: 'node:__internal_head__' in resources,
      resources,
      labels: record(node.Labels) as Record<string, string>,
    };
  });
}

/** The dashboard's address from the JSON of the server: an object, or an empty string. */
export function parseDashboard(json: unknown): string | undefined {
  const url = typeof json === 'string' ? json : text(record(json).dashboard_url);
  return url === '' ? undefined : url;
}

/** Named actors from the JSON of the server, which is of names alone unless all namespaces were asked for. */
export function parseNamedActors(json: string, namespace: string): NamedActor[] {
  const list: unknown = JSON.parse(json);
  if (!Array.isArray(list)) throw new RayRequestError(13, 'the list of actors is no list');
  return list.map((entry: unknown) =>
    typeof entry === 'string'
      ? { name: entry, namespace }
      : { name: text(record(entry).name), namespace: text(record(entry).namespace) },
  );
}

function record(value: unknown): Record<string, unknown> {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};
}

function text(value: unknown): string {
  return typeof value === 'string' ? value : '';
}
