import { setTimeout as pause } from 'node:timers/promises';
import { EchelonError } from '../core/errors.ts';
import { COMMAND_ID, newCommandId } from '../core/ids.ts';
import type { Command, CommandKind } from '../schemas/clusters.ts';
import { nearestName } from '../schemas/nearest.ts';
import type { Cluster } from '../store/cluster-store.ts';
import type { Store } from '../store/store.ts';
import type { RouteDeps } from './deps.ts';

/** A command waits this long for its job; what takes longer goes on by itself. */
const SEND_MS = 200;

/** The answer 202 of a request that begins a command. */
export const accepted = {
  202: {
    description: 'A dispatcher will do it',
    headers: {
      Location: { type: 'string', description: 'Path of the command: poll it until its state is final' },
    },
    content: { 'application/json': { schema: { $ref: 'Command#' } } },
  },
} as const;

interface CommandParts {
  request?: unknown;
  secret?: string | null;
  project?: string;
  /** The version that the cluster must have (If-Match). */
  ifVersion?: string | undefined;
}

/**
 * Records a command and gives it its job; the removal of a cluster that is to be removed already is the same one. What the request holds in `secret` is shown to nobody. Throws EchelonError
 * `precondition-failed` where the cluster has another version.
 */
export async function beginCommand(
  { store, commands, log }: RouteDeps,
  cluster: string,
  kind: CommandKind,
  { request = {}, secret = null, project, ifVersion }: CommandParts = {},
): Promise<Command> {
  const id = await store.createCommand({
    ...{ id: newCommandId(), cluster, kind, request, secret },
    ...(project !== undefined && { project }),
    ...(ifVersion !== undefined && { ifVersion }),
  });
  const sent = commands.send(cluster, id).catch((err: unknown) => {
    log.warn({ err, command: id }, 'no job yet for a command; the dispatchers look for it');
  });
  await Promise.race([sent, pause(SEND_MS, undefined, { ref: false })]);
  return commandOf(store, id);
}

/** The cluster of that name. Throws EchelonError `cluster-not-found` with the nearest one. */
export async function clusterOf(store: Pick<Store, 'clusters'>, name: string): Promise<Cluster> {
  const [found] = await store.clusters([name]);
  if (found) return found;
  const known = (await store.clusters()).map((cluster) => cluster.name);
  const near = nearestName(name, known);
  const hint = near === undefined ? '' : ` Did you mean ${near}?`;
  throw new EchelonError('cluster-not-found', `There is no cluster ${name.slice(0, 70)}.${hint}`);
}

/** The command of that id. Throws EchelonError `not-found`. */
export async function commandOf(store: Pick<Store, 'command'>, id: string): Promise<Command> {
  const command = COMMAND_ID.test(id) ? await store.command(id) : undefined;
  if (command === undefined) throw new EchelonError('not-found', `There is no command ${id.slice(0, 40)}.`);
  return command;
}
