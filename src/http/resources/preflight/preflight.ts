import { Type } from 'typebox';
import { EchelonError } from '../../../core/errors.ts';
import { COMMAND_ID } from '../../../core/ids.ts';
import { sees } from '../../../core/scopes.ts';
import type { ExperimentSpec, ResolvedSpec } from '../../../engines/registry.ts';
import { possibleNodes } from '../../../scheduler/nodes.ts';
import { couldFit, needOf } from '../../../scheduler/placement.ts';
import { Text } from '../../../schemas/answer-parts.ts';
import type { Command } from '../../../schemas/clusters.ts';
import { StrictObject } from '../../../schemas/objects.ts';
import type { Cluster } from '../../../store/clusters/types.ts';
import { createIntake } from '../../intake/intake.ts';
import { labelProblem } from '../../intake/placement.ts';
import type { App, RouteDeps } from '../../server/deps.ts';
import { route } from '../../server/route.ts';
import { accepted, beginCommand, commandOf } from '../clusters/begin-command.ts';

const Params = StrictObject({ id: Text('Id of the preflight.') });

/** POST /v1/preflight, GET /v1/preflight/:id. */
export function addPreflight(app: App, deps: RouteDeps): void {
  addBegin(app, deps);
  addRead(app, deps);
}

function addBegin(app: App, deps: RouteDeps): void {
  route(app, {
    at: 'POST /v1/preflight',
    operationId: 'preflight',
    summary: 'Check a spec against a cluster before submitting it',
    description:
      'A dispatcher queries the ray-worker of the cluster in the spec, or else of a cluster with room. Poll the path until the state is final, then read `findings`. Nothing is submitted and no GPU is allocated.',
    tag: 'experiments',
    body: Type.Unsafe<ExperimentSpec>({ $ref: 'ExperimentSpec#' }),
    secrets: 'handler',
    answers: accepted,
    problems: ['invalid-spec', 'cluster-not-found', 'cluster-busy', 'store-full'],
    handler: async (request, reply) => {
      const intake = createIntake(deps, request.caller);
      const { spec, defaults } = await intake.take(request.body);
      const cluster = spec.cluster ?? suitable(await intake.clusters(), spec);
      await refuseCrowd(deps, cluster);
      const command = await beginCommand(deps, cluster, 'preflight', {
        request: { spec, defaults },
        project: spec.project,
      });
      return reply.code(202).header('location', `/v1/preflight/${command.id}`).send(command);
    },
  });
}

/** Commands on a cluster are carried out one after another: a crowd of preflights would keep its owner waiting. */
const MAX_WAITING = 8;

async function refuseCrowd({ store }: RouteDeps, cluster: string): Promise<void> {
  const waiting = (await store.commands.open()).filter((command) => command.cluster === cluster).length;
  if (waiting < MAX_WAITING) return;
  throw new EchelonError(
    'cluster-busy',
    `${waiting} commands are already pending for the cluster ${cluster}. Retry later.`,
  );
}

/** A cluster with its labels on which the spec fits, the one seen last; else any, which then says what is missing. */
function suitable(all: readonly Cluster[], { resources, clusterLabels }: ResolvedSpec['spec']): string {
  const clusters = all.filter(
    (cluster) => labelProblem({ cluster: null, clusterLabels }, [cluster]) === null,
  );
  const fits = (cluster: Cluster) => couldFit(needOf(resources), possibleNodes(cluster, cluster.nodes));
  const [best] = clusters.toSorted(
    (left, right) =>
      Number(fits(right)) - Number(fits(left)) || (right.lastSeenAt ?? 0) - (left.lastSeenAt ?? 0),
  );
  if (best === undefined) {
    throw new EchelonError(
      'cluster-not-found',
      'No cluster is registered. Add one with `echelon clusters add`.',
    );
  }
  return best.name;
}

function addRead(app: App, { store }: RouteDeps): void {
  route(app, {
    at: 'GET /v1/preflight/:id',
    operationId: 'getPreflight',
    summary: 'Get the findings of a preflight',
    description: 'The record is retained for a week after its end.',
    tag: 'experiments',
    params: Params,
    answer: 'Command',
    problems: ['not-found'],
    handler: async ({ params: { id }, caller }): Promise<Command> => {
      const project = COMMAND_ID.test(id) ? await store.commands.project(id) : undefined;
      if (project === undefined || !sees(caller, project)) {
        throw new EchelonError('not-found', `There is no preflight ${id.slice(0, 40)}.`);
      }
      return commandOf(store, id);
    },
  });
}
