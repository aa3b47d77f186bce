import { Type } from 'typebox';
import type { ClusterView } from '../../schemas/api.ts';
import type { Cluster, Store } from '../../store/store.ts';
import type { App, RouteDeps } from '../deps.ts';
import { problems } from '../responses.ts';
import { strict } from './common.ts';

const Query = Type.Object(
  {
    limit: Type.Optional(
      Type.Integer({ minimum: 1, maximum: 1000, description: 'Of the line; 100 where it is left out' }),
    ),
  },
  strict,
);

/** GET /v1/queues and GET /v1/clusters. */
export function addQueues(app: App, { store }: RouteDeps): void {
  app.get(
    '/v1/queues',
    {
      schema: {
        operationId: 'getQueue',
        summary: 'The line: counts, who waits and why, what the clusters have',
        tags: ['queue'],
        querystring: Query,
        response: { 200: { $ref: 'Queue#' }, ...problems() },
      },
    },
    async (request) => queueView(store, request.query.limit ?? 100),
  );

  app.get(
    '/v1/clusters',
    {
      schema: {
        operationId: 'listClusters',
        summary: 'Clusters and their capacity',
        tags: ['queue'],
        response: { 200: { $ref: 'ClusterList#' }, ...problems() },
      },
    },
    async () => ({ items: await clusterViews(store) }),
  );
}

async function queueView(store: Store, limit: number) {
  const [counts, waiting, backlog, pressure, clusters] = await Promise.all([
    store.counts(),
    store.waiting(limit),
    store.backlog(),
    store.pressure(),
    clusterViews(store),
  ]);
  return {
    counts,
    accepting: pressure.accepting,
    length: counts.queued,
    waiting: waiting.map((one, index) => ({
      position: index + 1,
      experiment: one.experiment,
      name: one.name,
      project: one.project,
      priority: one.priority,
      cluster: one.cluster,
      gpus: one.gpus,
      cpus: one.cpus,
      submittedAt: one.submittedAt,
      reason: one.reason,
    })),
    verificationBacklog: backlog,
    clusters,
  };
}

async function clusterViews(store: Store): Promise<ClusterView[]> {
  const clusters = await store.clusters();
  const views = await Promise.all(clusters.map((cluster) => clusterView(store, cluster)));
  return views.sort((left, right) => (left.name < right.name ? -1 : 1));
}

/** Names what is shown: a field that is added to the record later, such as a secret, is not. */
async function clusterView(store: Store, cluster: Cluster): Promise<ClusterView> {
  const { items } = await store.reservations(cluster.name);
  return {
    name: cluster.name,
    address: cluster.address,
    tls: cluster.ca !== null,
    backfill: cluster.backfill,
    lastSeenAt: cluster.lastSeenAt,
    nodes: cluster.nodes.map((node) => {
      const here = items.filter((item) => item.node === node.id);
      return {
        id: node.id,
        cpusTotal: node.cpusTotal,
        gpusTotal: node.gpusTotal,
        cpusUsed: node.cpusUsed,
        gpusUsed: node.gpusUsed,
        cpusReserved: here.reduce((sum, item) => sum + item.cpus, 0),
        gpusReserved: here.reduce((sum, item) => sum + item.gpus, 0),
      };
    }),
    experiments: items.map((item) => item.experiment),
  };
}
