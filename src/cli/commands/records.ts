import { randomUUID } from 'node:crypto';
import type { Command } from 'commander';
import type { Accepted, AttemptList } from '../../schemas/api.ts';
import type { Experiment } from '../../schemas/experiment.ts';
import type { Artifact, ArtifactPage } from '../../schemas/records.ts';
import type { Client } from '../client.ts';
import { apiCommand, type ConnectionOptions, clientFor } from '../connection.ts';
import { experimentNamed, NAMES_IT } from '../names.ts';
import { inert, json, type Output, table } from '../output.ts';
import { changedSpec, changesSpec, type SpecChanges, withSpecChanges } from '../spec-changes.ts';
import { watchExperiment } from './watch.ts';

type Options = ConnectionOptions & { json?: boolean };

/** What is done with experiments that are there already: rerun, attempts, artifacts. */
export function recordCommands(output: Output): Command[] {
  return [rerun(output), attempts(output), artifacts(output)];
}

const pathOf = (id: string): string => `/v1/experiments/${encodeURIComponent(id)}`;

function rerun(output: Output): Command {
  return withSpecChanges(apiCommand('rerun'))
    .summary('run an experiment again, as a new one')
    .description(
      'run an experiment again, as a new one of the same spec or, with --set and the like, of a changed one; prints its id',
    )
    .argument('<id>', NAMES_IT)
    .option('--key <key>', 'Idempotency-Key: the same key gives the same new experiment')
    .option('-w, --watch', 'follow it')
    .addHelpText(
      'after',
      '\nExamples:\n  echelon rerun @last --watch\n  echelon rerun exp-00cz8h3k7n2q4r5s6t7v --set training.seed=2 --name "seed 2"',
    )
    .action(async (name: string, options: Options & SpecChanges & { key?: string; watch?: boolean }) => {
      const client = await clientFor(options);
      const id = await experimentNamed(client, name);
      const headers = { 'idempotency-key': options.key ?? randomUUID() };
      const accepted = changesSpec(options)
        ? await submitChanged({ client, id, changes: options, headers })
        : await client.post<Accepted>(`${pathOf(id)}/rerun`, undefined, headers);
      if (options.watch)
        return watchExperiment({ client, id: accepted.id, output, json: options.json ?? false });
      output.line(options.json ? json(accepted) : accepted.id);
    });
}

/** Submits the spec of an experiment with changes, in the project of the experiment unless that is changed too. */
async function submitChanged(input: {
  client: Client;
  id: string;
  changes: SpecChanges;
  headers: Record<string, string>;
}): Promise<Accepted> {
  const { client, id, changes, headers } = input;
  const { submitted, project } = await client.get<Experiment>(pathOf(id));
  const spec = changedSpec({ project, ...(submitted as object) }, changes);
  return client.post<Accepted>('/v1/experiments', spec, headers);
}

function attempts(output: Output): Command {
  return apiCommand('attempts')
    .summary('list the attempts of an experiment, and how each ended')
    .description('list the attempts of an experiment, where each ran and how it ended')
    .argument('<id>', NAMES_IT)
    .addHelpText('after', '\nExample:\n  echelon attempts exp-00cz8h3k7n2q4r5s6t7v')
    .action(async (name: string, options: Options) => {
      const client = await clientFor(options);
      const id = await experimentNamed(client, name);
      const list = await client.get<AttemptList>(`${pathOf(id)}/attempts`);
      if (options.json) return output.line(json(list));
      if (list.items.length === 0) return output.line('It has not been tried yet.');
      const rows = list.items.map(({ attempt, cluster, claimedAt, confirmedAt, lastSequence, ended }) => [
        ...[attempt, inert(cluster), new Date(claimedAt).toISOString()],
        confirmedAt === null ? '-' : new Date(confirmedAt).toISOString(),
        ...[lastSequence, endOf(ended)],
      ]);
      output.line(table(['ATTEMPT', 'CLUSTER', 'CLAIMED', 'LAUNCHED', 'EVENTS', 'ENDED'], rows));
    });
}

/** How a driver ended, as its last event says. */
function endOf(ended: unknown): string {
  if (ended === null) return '-';
  const { cause, message } = ended as { cause: string; message: string };
  // What was stopped says so itself.
  const rest = message.startsWith(`${cause}: `) ? message.slice(cause.length + 2) : message;
  return inert(rest === '' ? cause : `${cause}: ${rest}`);
}

function artifacts(output: Output): Command {
  return apiCommand('artifacts')
    .summary('list what an experiment left on its cluster: its checkpoints')
    .description('list what an experiment left on its cluster: its checkpoints, in the order of their making')
    .argument('<id>', NAMES_IT)
    .addHelpText('after', '\nExample:\n  echelon artifacts exp-00cz8h3k7n2q4r5s6t7v')
    .action(async (name: string, options: Options) => {
      const client = await clientFor(options);
      const id = await experimentNamed(client, name);
      const items: Artifact[] = [];
      let cursor: string | undefined;
      do {
        const page = await client.get<ArtifactPage>(`${pathOf(id)}/artifacts`, { limit: 200, cursor });
        items.push(...page.items);
        cursor = page.next ?? undefined;
      } while (cursor !== undefined);
      if (options.json) return output.line(json({ items }));
      if (items.length === 0) return output.line('Nothing was registered.');
      const rows = items.map(({ kind, step, attempt, at, path }) => [
        ...[kind, step, attempt, new Date(at).toISOString()],
        inert(path),
      ]);
      output.line(table(['KIND', 'STEP', 'ATTEMPT', 'AT', 'PATH'], rows));
    });
}
