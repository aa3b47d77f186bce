import type { Command } from 'commander';
import type { Accepted, ExperimentSpec } from 'echelon-client/calls';
import { examples } from 'echelon-verify/cli/examples';
import { json, type Output } from 'echelon-verify/cli/output';
import { table } from 'echelon-verify/cli/table';
import { inert } from 'echelon-verify/text/inert';
import type { Client } from '../client.ts';
import { apiCommand, type ConnectionOptions, clientFor } from '../connection.ts';
import { experimentNamed, NAME_FORMS } from '../names.ts';
import { readPages } from '../pages.ts';
import { changedSpec, changesSpec, type SpecChanges, withSpecChanges } from '../spec-changes.ts';
import { idempotencyHeader, withIdempotencyKey } from './submit.ts';
import { watchExperiment } from './watch.ts';

type Options = ConnectionOptions & { json?: boolean };
type RerunOptions = Options & SpecChanges & { idempotencyKey?: string; watch?: boolean };

/** `echelon rerun ID`: a new experiment from the spec of another. */
export function rerunCommand(output: Output): Command {
  return withIdempotencyKey(withSpecChanges(apiCommand('rerun')))
    .description(
      'Submit the spec of an experiment again, with the changes of --set and the like. The id of the new experiment is printed.',
    )
    .argument('<id>', `experiment: ${NAME_FORMS}`)
    .option('-w, --watch', 'follow the experiment until it has ended')
    .addHelpText(
      'after',
      examples(
        'echelon rerun @last --watch',
        'echelon rerun exp-00cz8h3k7n2q4r5s6t7v --set training.seed=2 --name "seed 2"',
      ),
    )
    .action(async (name: string, options: RerunOptions) => {
      const client = await clientFor(options);
      const id = await experimentNamed(client, name);
      const headers = idempotencyHeader(options);
      const accepted = changesSpec(options)
        ? await submitChanged({ client, id, changes: options, headers })
        : await client.post('/v1/experiments/{id}/rerun', { path: { id }, headers });
      if (options.watch)
        return watchExperiment({ client, id: accepted.id, output, json: options.json ?? false });
      output.line(options.json ? json(accepted) : accepted.id);
    });
}

/** Submits the spec of an experiment with changes, in the project of the experiment unless the changes name another. */
async function submitChanged(input: {
  client: Client;
  id: string;
  changes: SpecChanges;
  headers: ReturnType<typeof idempotencyHeader>;
}): Promise<Accepted> {
  const { client, id, changes, headers } = input;
  const { submitted, project } = await client.get('/v1/experiments/{id}', { path: { id } });
  // The API validates it.
  const body = changedSpec({ project, ...submitted }, changes) as ExperimentSpec;
  return client.post('/v1/experiments', { body, headers });
}

/** `echelon attempts ID`. */
export function attemptsCommand(output: Output): Command {
  return apiCommand('attempts')
    .description('List the attempts of an experiment: the cluster, the times and the end of each.')
    .argument('<id>', `experiment: ${NAME_FORMS}`)
    .addHelpText('after', examples('echelon attempts exp-00cz8h3k7n2q4r5s6t7v'))
    .action(async (name: string, options: Options) => {
      const client = await clientFor(options);
      const path = { id: await experimentNamed(client, name) };
      const list = await client.get('/v1/experiments/{id}/attempts', { path });
      if (options.json) return output.line(json(list));
      if (list.items.length === 0) return output.line('No attempts yet.');
      const rows = list.items.map(({ attempt, cluster, claimedAt, confirmedAt, lastSequence, ended }) => [
        ...[attempt, inert(cluster), new Date(claimedAt).toISOString()],
        confirmedAt === null ? '-' : new Date(confirmedAt).toISOString(),
        ...[lastSequence, endOf(ended)],
      ]);
      output.line(table(['ATTEMPT', 'CLUSTER', 'CLAIMED', 'LAUNCHED', 'EVENTS', 'ENDED'], rows));
    });
}

/** How a driver ended, by its last event. */
function endOf(ended: unknown): string {
  if (ended === null) return '-';
  const { cause, message } = ended as { cause: string; message: string };
  // The message of a stopped driver begins with its cause.
  const rest = message.startsWith(`${cause}: `) ? message.slice(cause.length + 2) : message;
  return inert(rest === '' ? cause : `${cause}: ${rest}`);
}

/** `echelon artifacts ID`. */
export function artifactsCommand(output: Output): Command {
  return apiCommand('artifacts')
    .description('List the checkpoints of an experiment on its cluster, oldest first.')
    .argument('<id>', `experiment: ${NAME_FORMS}`)
    .addHelpText('after', examples('echelon artifacts exp-00cz8h3k7n2q4r5s6t7v'))
    .action(async (name: string, options: Options) => {
      const client = await clientFor(options);
      const path = { id: await experimentNamed(client, name) };
      const { items } = await readPages((query) =>
        client.get('/v1/experiments/{id}/artifacts', { path, query }),
      );
      if (options.json) return output.line(json({ items }));
      if (items.length === 0) return output.line('No artifacts.');
      const rows = items.map(({ kind, step, attempt, at, path }) => [
        ...[kind, step, attempt, new Date(at).toISOString()],
        inert(path),
      ]);
      output.line(table(['KIND', 'STEP', 'ATTEMPT', 'TIME', 'PATH'], rows));
    });
}
