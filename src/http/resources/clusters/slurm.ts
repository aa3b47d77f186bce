import { EchelonError } from '../../../core/errors.ts';
import { SlurmNodes } from '../../../schemas/slurm.ts';
import type { SlurmPlace } from '../../../store/clusters/types.ts';
import type { App, RouteDeps } from '../../server/deps.ts';
import { route } from '../../server/route.ts';
import { ClusterParams, clusterOf } from './begin-command.ts';
import { clusterView } from './cluster-views.ts';

const NOTICE_SECONDS = 300;
const IDLE_SECONDS = 300;

/** POST /v1/clusters/:name/slurm. */
export function addClusterSlurm(app: App, deps: RouteDeps): void {
  const { store } = deps;
  route(app, {
    at: 'POST /v1/clusters/:name/slurm',
    operationId: 'addSlurmCluster',
    scope: 'admin',
    summary: 'Add or update a cluster whose nodes are asked for as Slurm jobs',
    description:
      'Dispatchers ask Slurm for one small job with the head of a Ray, and for one job for each node that queued experiments need; they give idle nodes back. All jobs run as the Unix user of the dispatchers. A change holds for the jobs that are asked for from then on.',
    tag: 'clusters',
    params: ClusterParams,
    body: SlurmNodes,
    answer: 'Cluster',
    problems: ['cluster-busy'],
    handler: async (request) => {
      const { name } = request.params;
      const { body } = request;
      request.auditTarget = name;
      const [before] = await store.clusters.list([name]);
      if (before !== undefined && before.slurm === undefined && before.address !== '')
        throw new EchelonError(
          'cluster-busy',
          `${name} is a Ray cluster that was added by its address. Use another name, or remove it first.`,
        );
      if (before === undefined)
        await store.clusters.put({
          ...{ name, address: '', token: '', ca: null, backfill: false },
          ...{ generation: null, lastSeenAt: null, nodes: [] },
        });
      const { gpus, cpus } = body.node;
      const nodeTypes = [{ gpus, cpus, max: body.maxNodes }];
      await store.clusters.set(name, { slurm: placeOf(body, deps.clock.now()), nodeTypes });
      return await clusterView(deps, await clusterOf(store, name));
    },
  });
}

function placeOf({ node, ...body }: SlurmNodes, statedAt: number): SlurmPlace {
  return {
    partition: body.partition,
    headPartition: body.headPartition ?? null,
    account: body.account ?? null,
    qos: body.qos ?? null,
    constraint: body.constraint ?? null,
    node: { ...node, memoryMb: node.memoryMb ?? null },
    maxNodes: body.maxNodes,
    minutes: body.minutes,
    headMinutes: body.headMinutes ?? body.minutes,
    noticeSeconds: body.noticeSeconds ?? NOTICE_SECONDS,
    idleSeconds: body.idleSeconds ?? IDLE_SECONDS,
    exclusive: body.exclusive ?? false,
    setup: body.setup ?? null,
    bin: body.bin,
    sharedRoot: body.sharedRoot,
    ssh: body.ssh ?? null,
    statedAt,
  };
}
