import { type Command, InvalidArgumentError } from 'commander';
import type { Project, ProjectChange } from 'echelon-client/calls';
import { examples } from 'echelon-verify/cli/examples';
import { CliError, EXIT } from 'echelon-verify/cli/exit';
import { json, type Output } from 'echelon-verify/cli/output';
import { table } from 'echelon-verify/cli/table';
import { inert } from 'echelon-verify/text/inert';
import type { Client } from '../client.ts';
import { apiCommand, type ConnectionOptions, clientFor } from '../connection.ts';
import { group } from '../group.ts';
import { sizeFrom, sizeInWords } from '../size.ts';
import { unlessChanged } from '../unless-changed.ts';

type Options = ConnectionOptions & { json?: boolean };

/** A whole number, or the word for "unlimited"; commander options cannot be null. */
type Count = number | 'none' | 'ever';

interface ChangeOptions extends Options {
  weight?: number;
  gpuQuota?: Count;
  storeQuota?: Count;
  keepBatches?: Count;
  keepStreams?: Count;
  keepRecords?: Count;
  keepEventLogs?: Count;
}

/** `echelon projects`: list, add, set and delete. */
export function projectsCommand(output: Output): Command {
  return group(
    {
      name: 'projects',
      alias: 'project',
      description: 'Manage projects: shares of the GPUs, quotas and retention. Without a command, list them.',
    },
    [list(output), add(output), set(output), remove(output)],
  );
}

function list(output: Output): Command {
  return apiCommand('ls')
    .description('List the projects that your key sees.')
    .addHelpText('after', examples('echelon projects ls'))
    .action(async (options: Options) => {
      const client = await clientFor(options);
      const projects = await client.get('/v1/projects');
      output.line(options.json ? json(projects) : projectTable(projects.items));
    });
}

/** One line per project. */
export function projectTable(projects: readonly Project[]): string {
  return table(
    [
      ...['NAME', 'WEIGHT', 'GPU QUOTA', 'STORED', 'STORE LIMIT'],
      ...['KEEP BATCHES', 'KEEP STREAMS', 'KEEP RECORDS', 'KEEP EVENT LOGS'],
    ],
    projects.map(({ name, weight, gpuQuota, storeBytes, storeLimitBytes, retention }) => [
      inert(name),
      weight,
      gpuQuota ?? 'none',
      sizeInWords(storeBytes),
      storeLimitBytes === null ? 'none' : sizeInWords(storeLimitBytes),
      ...(['batchesDays', 'streamsDays', 'recordsDays', 'eventLogsDays'] as const).map((field) =>
        retentionOf(retention, field),
      ),
    ]),
  );
}

function retentionOf(
  retention: Project['retention'],
  field: keyof NonNullable<Project['retention']>,
): string {
  const days = retention?.[field];
  if (days === undefined) return 'default';
  return days === null ? 'ever' : `${days} d`;
}

const withChanges = (command: Command): Command =>
  command
    .option(
      '--weight <number>',
      'share of the GPUs relative to other projects; a new project has 1',
      positive,
    )
    .option('--gpu-quota <count>', 'maximum number of GPUs at once, or none', (text) => countOr('none', text))
    .option(
      '--store-quota <size>',
      'maximum bytes in Redis, such as 800MB, or none for the default',
      (text) => (text === 'none' ? text : sizeFrom(text)),
    )
    .option('--keep-batches <days>', 'retention of the bytes of batches, or ever', days)
    .option('--keep-streams <days>', 'retention of events, logs, metrics and reports, or ever', days)
    .option('--keep-records <days>', 'retention of records, or ever', days)
    .option('--keep-event-logs <days>', 'retention of event logs on clusters, at least 7, or ever', days);

function positive(text: string): number {
  const number = Number(text);
  if (!(number > 0 && Number.isFinite(number)))
    throw new InvalidArgumentError('It must be a number above 0.');
  return number;
}

function countOr(word: 'none' | 'ever', text: string): Count {
  if (text === word) return word;
  if (!/^\d{1,7}$/.test(text)) throw new InvalidArgumentError(`It must be a whole number or ${word}.`);
  return Number(text);
}

const days = (text: string): Count => countOr('ever', text);
const orNull = (count: Count): number | null => (typeof count === 'number' ? count : null);

function changeOf(options: ChangeOptions): ProjectChange {
  const { weight, gpuQuota, storeQuota, keepBatches, keepStreams, keepRecords, keepEventLogs } = options;
  const retention = {
    ...(keepBatches !== undefined && { batchesDays: orNull(keepBatches) }),
    ...(keepStreams !== undefined && { streamsDays: orNull(keepStreams) }),
    ...(keepRecords !== undefined && { recordsDays: orNull(keepRecords) }),
    ...(keepEventLogs !== undefined && { eventLogsDays: orNull(keepEventLogs) }),
  };
  return {
    ...(weight !== undefined && { weight }),
    ...(gpuQuota !== undefined && { gpuQuota: orNull(gpuQuota) }),
    ...(storeQuota !== undefined && { storeQuotaBytes: orNull(storeQuota) }),
    ...(Object.keys(retention).length > 0 && { retention }),
  };
}

function add(output: Output): Command {
  return withChanges(apiCommand('add'))
    .description('Add a project.')
    .argument('<name>', 'name of the project')
    .addHelpText('after', examples('echelon projects add vision --weight 2 --gpu-quota 16'))
    .action(async (name: string, options: ChangeOptions) => {
      const client = await clientFor(options);
      const project = await client.post('/v1/projects', { body: { name, ...changeOf(options) } });
      output.line(options.json ? json(project) : projectTable([project]));
    });
}

function set(output: Output): Command {
  return withChanges(apiCommand('set'))
    .description(
      'Change the weight, the quotas or the retention of a project. Omitted options change nothing.',
    )
    .argument('<name>', 'name of the project')
    .addHelpText(
      'after',
      examples('echelon projects set vision --gpu-quota none --store-quota 800MB --keep-batches 30'),
    )
    .action(async (name: string, options: ChangeOptions) => {
      const body = changeOf(options);
      if (Object.keys(body).length === 0)
        throw new CliError(
          EXIT.usage,
          'No change was given. Give --weight, --gpu-quota, --store-quota or a --keep-… option.',
        );
      const client = await clientFor(options);
      const project = await change(client, name, body);
      output.line(options.json ? json(project) : projectTable([project]));
    });
}

/** Changes a project. A retention is one value: the days that the change omits are those that the project has now. */
async function change(client: Client, name: string, body: ProjectChange): Promise<Project> {
  const path = { name };
  if (!body.retention) return await client.patch('/v1/projects/{name}', { path, body });
  return await unlessChanged(async () => {
    const { data, response } = await client.request('get', '/v1/projects/{name}', { path });
    const headers = { 'if-match': response.headers.get('etag') ?? undefined };
    const retention = { ...data.retention, ...body.retention };
    return await client.patch('/v1/projects/{name}', { path, headers, body: { ...body, retention } });
  });
}

function remove(output: Output): Command {
  return apiCommand('delete')
    .description('Delete a project that has no experiments, sweeps or keys.')
    .argument('<name>', 'name of the project')
    .addHelpText('after', examples('echelon projects delete vision'))
    .action(async (name: string, options: Options) => {
      const client = await clientFor(options);
      await client.delete('/v1/projects/{name}', { path: { name } });
      output.line(options.json ? json({ deleted: name }) : `${inert(name)} deleted`);
    });
}
