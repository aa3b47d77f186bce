import { nearestName } from 'command-kit/nearest';
import { EchelonError, type FieldProblem } from '../../../core/errors.ts';
import { COMMAND_ID, newCommandId } from '../../../core/ids.ts';
import { type CheckpointStores, listedStoreProblems } from '../../../engines/checkpoint-stores.ts';
import { variableProblems } from '../../../engines/variables.ts';
import { Text } from '../../../schemas/answer-parts.ts';
import type { Command, CommandKind } from '../../../schemas/clusters.ts';
import { StrictObject } from '../../../schemas/objects.ts';
import { plainSecretProblems } from '../../../schemas/secrets.ts';
import type { Variables } from '../../../schemas/spec-parts.ts';
import type { Cluster } from '../../../store/clusters/types.ts';
import type { Store } from '../../../store/store.ts';
import type { RouteDeps } from '../../server/deps.ts';
import { located } from '../../server/operation.ts';

/** Path parameters of one cluster. */
export const ClusterParams = StrictObject({ name: Text('Name of the cluster.') });

/** The answer 202 of a request that begins a command. */
export const accepted = {
  202: located(
    'Accepted; a dispatcher will run the command.',
    'Command',
    'Path of the command. Poll it until its state is final.',
  ),
};

/**
 * Records a command; the store wakes the dispatchers. A second removal of a cluster gives the first one's command. No
 * answer shows `secret`. Throws EchelonError `precondition-failed` if the cluster has another revision.
 */
export async function beginCommand(
  { store }: Pick<RouteDeps, 'store'>,
  cluster: string,
  kind: CommandKind,
  {
    request = {},
    secret = null,
    project,
    ifRevision,
  }: {
    request?: unknown;
    secret?: string | null;
    project?: string;
    /** The revision that the cluster must have (If-Match). */
    ifRevision?: number | undefined;
  } = {},
): Promise<Command> {
  const id = await store.commands.create({
    id: newCommandId(),
    cluster,
    kind,
    request,
    secret,
    ...(project !== undefined && { project }),
    ...(ifRevision !== undefined && { ifRevision }),
  });
  return commandOf(store, id);
}

/** The cluster of that name. Throws EchelonError `cluster-not-found` with the nearest one. */
export async function clusterOf(store: Pick<Store, 'clusters' | 'commands'>, name: string): Promise<Cluster> {
  const [found] = await store.clusters.list([name]);
  if (found) return found;
  const known = (await store.clusters.list()).map((cluster) => cluster.name);
  const near = nearestName(name, known);
  const hint = near === undefined ? '' : ` Did you mean ${near}?`;
  throw new EchelonError('cluster-not-found', `There is no cluster ${name.slice(0, 70)}.${hint}`);
}

/** The command of that id. Throws EchelonError `not-found`. */
export async function commandOf(store: Pick<Store, 'clusters' | 'commands'>, id: string): Promise<Command> {
  const command = COMMAND_ID.test(id) ? await store.commands.get(id) : undefined;
  if (command === undefined) throw new EchelonError('not-found', `There is no command ${id.slice(0, 40)}.`);
  return command;
}

/** Throws EchelonError `invalid-request` for variables that no cluster may set, and for secrets in plain text. */
export function refuseVariables(env: Variables): void {
  refuse([...plainSecretProblems({ env }), ...variableProblems(env)]);
}

/** Throws EchelonError `invalid-request` for object stores that no cluster may list. */
export function refuseStores(stores: CheckpointStores): void {
  refuse(listedStoreProblems(stores));
}

function refuse(problems: readonly FieldProblem[]): void {
  if (problems.length === 0) return;
  const fields = problems.map(({ field, message }) => `${field} ${message}`).join('; ');
  throw new EchelonError('invalid-request', `The request is invalid: ${fields}.`, {
    problems: [...problems],
  });
}
