import { EchelonError } from '../../../core/errors.ts';
import type { Cordon } from '../../../core/node-states.ts';
import { Text } from '../../../schemas/answer-parts.ts';
import type { ClusterView } from '../../../schemas/api.ts';
import { StrictObject } from '../../../schemas/objects.ts';
import type { Cluster } from '../../../store/clusters/types.ts';
import type { App, RouteDeps } from '../../server/deps.ts';
import { route } from '../../server/route.ts';
import { PauseBody, pauseBy } from '../common.ts';
import { clusterOf } from './begin-command.ts';
import { clusterView } from './cluster-views.ts';

const NodeParams = StrictObject({
  name: Text('Name of the cluster.'),
  node: Text('Id of the node in Ray, or the start of it that no other node has.'),
});

/** POST cordon, drain and uncordon of a node. */
export function addClusterNodes(app: App, deps: RouteDeps): void {
  addCordon(app, deps, 'cordon');
  addCordon(app, deps, 'drain');
  addUncordon(app, deps);
}

const CORDONS = {
  cordon: {
    operationId: 'cordonNode',
    summary: 'Start no new experiment on a node',
    description:
      'Experiments that run on the node continue. `uncordon` ends it. The request body is optional.',
  },
  drain: {
    operationId: 'drainNode',
    summary: 'Let experiments leave a node at their next checkpoints',
    description:
      'No new experiment starts on the node. Each experiment that runs on it is stopped at its next checkpoint and continues on other nodes; that attempt does not count against `maxAttempts`. An experiment without checkpoints runs to its end. `uncordon` ends it. The request body is optional.',
  },
} as const;

function addCordon(app: App, deps: RouteDeps, kind: 'cordon' | 'drain'): void {
  const { clock } = deps;
  route(app, {
    at: `POST /v1/clusters/:name/nodes/:node/${kind}`,
    ...CORDONS[kind],
    scope: 'admin',
    tag: 'clusters',
    params: NodeParams,
    optionalBody: PauseBody,
    answer: 'Cluster',
    problems: ['cluster-not-found', 'not-found'],
    handler: async ({ params, body, caller }) => {
      const pause = pauseBy(caller, body, clock.now());
      const cordon: Cordon = { ...pause, ...(kind === 'drain' && { drain: true as const }) };
      return await changed(deps, params, (cordons, node) => ({ ...cordons, [node]: cordon }));
    },
  });
}

function addUncordon(app: App, deps: RouteDeps): void {
  route(app, {
    at: 'POST /v1/clusters/:name/nodes/:node/uncordon',
    operationId: 'uncordonNode',
    scope: 'admin',
    summary: 'End the cordon or the drain of a node',
    description: 'Has no effect on a ready node, or on a node that Ray drains. The request has no body.',
    tag: 'clusters',
    params: NodeParams,
    body: null,
    answer: 'Cluster',
    problems: ['cluster-not-found', 'not-found'],
    handler: async ({ params }) =>
      await changed(deps, params, (cordons, node) =>
        Object.fromEntries(Object.entries(cordons).filter(([id]) => id !== node)),
      ),
  });
}

type Cordons = Readonly<Record<string, Cordon>>;

/** Changes the cordons of a cluster, and answers with the cluster. */
async function changed(
  deps: RouteDeps,
  { name, node }: { name: string; node: string },
  edit: (cordons: Cordons, node: string) => Cordons,
): Promise<ClusterView> {
  const { store } = deps;
  await store.clusters.editCordons(name, (before, cluster) => edit(before, nodeOf(cluster, node)));
  return await clusterView(deps, await clusterOf(store, name));
}

/** The id of the node that the text names. A cordoned node may be away. Throws EchelonError `not-found`. */
function nodeOf({ name, nodes, cordons = {} }: Cluster, text: string): string {
  const ids = [...new Set([...nodes.map(({ id }) => id), ...Object.keys(cordons)])];
  const found = ids.includes(text) ? [text] : ids.filter((id) => id.startsWith(text));
  if (found.length === 1) return found[0]!;
  const what = found.length === 0 ? 'has no node' : `has ${found.length} nodes whose ids begin with`;
  throw new EchelonError(
    'not-found',
    `Cluster ${name} ${what} ${text.slice(0, 70)}. \`echelon nodes ls\` lists the nodes.`,
  );
}
