import { examples } from 'command-kit/examples';
import { CliError, EXIT } from 'command-kit/exit';
import { inert } from 'command-kit/inert';
import { json, type Output } from 'command-kit/output';
import { fittedTable } from 'command-kit/table';
import { type Command, InvalidArgumentError } from 'commander';
import type { Project, ProjectChange } from 'echelon-client/calls';
import type { Client } from '../client.ts';
import { type ApiOptions, apiCommand, clientFor } from '../connection.ts';
import { group } from '../group.ts';
import { retentionText } from '../retention-text.ts';
import { row, stated, withOptions } from '../row.ts';
import { sizeFrom, sizeInWords } from '../size.ts';
import { unlessChanged } from '../unless-changed.ts';

const ls = row({
  name: 'ls',
  description: 'List the projects that your key sees.',
  examples: ['echelon projects ls'],
  verb: 'get',
  path: '/v1/projects',
  print: ({ items }, { width }) => projectTable(items, width),
});

const get = row({
  name: 'get',
  description: 'Show a project, and what its retention would delete now. Nothing is deleted.',
  arguments: [['<name>', 'name of the project']],
  examples: ['echelon projects get vision'],
  verb: 'get',
  path: '/v1/projects/{name}',
  json: async (project, { name }, client) => ({
    ...project,
    preview: await previewOf(client, name),
  }),
  async print(project, { name, width }, _output, client) {
    return `${projectTable([project], width)}\n\n${retentionText(await previewOf(client, name), width)}`;
  },
});

const previewOf = (client: Client, name: string) =>
  client.get('/v1/projects/{name}/retention/preview', { path: { name } });

/** One line per project. */
export function projectTable(projects: readonly Project[], width?: number | undefined): string {
  const columns = [
    { title: 'NAME', minWidth: 12 },
    { title: 'WEIGHT' },
    { title: 'GPU QUOTA' },
    { title: 'URGENT GPUS', drop: 5 },
    { title: 'STORED' },
    { title: 'STORE LIMIT' },
    { title: 'KEEP BATCHES', drop: 1 },
    { title: 'KEEP STREAMS', drop: 2 },
    { title: 'KEEP RECORDS', drop: 3 },
    { title: 'KEEP EVENT LOGS', drop: 4 },
  ];
  return fittedTable(
    columns,
    projects.map(({ name, weight, gpuQuota, urgentGpuQuota, storeBytes, storeLimitBytes, retention }) => [
      inert(name),
      weight,
      gpuQuota ?? 'none',
      urgentGpuQuota ?? 'any',
      sizeInWords(storeBytes),
      storeLimitBytes === null ? 'none' : sizeInWords(storeLimitBytes),
      ...(['batchesDays', 'streamsDays', 'recordsDays', 'eventLogsDays'] as const).map((field) =>
        retentionOf(retention, field),
      ),
    ]),
    width,
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

/** A whole number, or the word for "unlimited"; commander options cannot be null. */
type Count = number | 'none' | 'ever';

interface Changes {
  weight?: number;
  gpuQuota?: Count;
  urgentGpuQuota?: Count;
  storeQuota?: Count;
  retain?: Retention;
}

const CHANGES = [
  ['--weight <number>', 'share of the GPUs relative to other projects; a new project has 1', positive],
  ['--gpu-quota <count>', 'maximum number of GPUs at once, or none', (text: string) => countOr('none', text)],
  [
    '--urgent-gpu-quota <count>',
    'maximum number of GPUs of urgent experiments at once, or none for no limit; a new project has 0',
    (text: string) => countOr('none', text),
  ],
  [
    '--store-quota <size>',
    'maximum bytes in Redis, such as 800MB, or none for the default',
    (text: string) => (text === 'none' ? text : sizeFrom(text)),
  ],
  [
    '--retain <data=days>',
    'retention in days, or ever, of batches (their bytes), streams (events, logs, metrics, reports), records, or event-logs (on clusters; at least 7); repeatable',
    retentionOption,
  ],
] as const;

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

const RETAINED = {
  batches: 'batchesDays',
  streams: 'streamsDays',
  records: 'recordsDays',
  'event-logs': 'eventLogsDays',
} as const;

type Retention = NonNullable<ProjectChange['retention']>;

/** Adds the `data=days` of a repeated option. */
function retentionOption(text: string, before: Retention = {}): Retention {
  const [data = '', days = ''] = text.split('=', 2);
  if (!Object.hasOwn(RETAINED, data))
    throw new InvalidArgumentError(`It must be ${Object.keys(RETAINED).join(', ')}, then = and days.`);
  return { ...before, [RETAINED[data as keyof typeof RETAINED]]: orNull(countOr('ever', days)) };
}

/** The API's form of a count: null is "unlimited". */
function orNull(count: Count | undefined): number | null | undefined {
  return typeof count === 'string' ? null : count;
}

function changeOf(options: Changes): ProjectChange {
  const { weight, gpuQuota, urgentGpuQuota, storeQuota, retain: retention } = options;
  return {
    ...stated({
      weight,
      gpuQuota: orNull(gpuQuota),
      urgentGpuQuota: orNull(urgentGpuQuota),
      storeQuotaBytes: orNull(storeQuota),
    }),
    ...(retention && { retention }),
  };
}

const add = row({
  name: 'add',
  description: 'Add a project.',
  arguments: [['<name>', 'name of the project']],
  options: CHANGES,
  examples: ['echelon projects add vision --weight 2 --gpu-quota 16'],
  verb: 'post',
  path: '/v1/projects',
  input: ({ name, ...changes }: Changes & { name: string }) => ({ body: { name, ...changeOf(changes) } }),
  print: (project, { width }) => projectTable([project], width),
});

function update(output: Output): Command {
  return withOptions(apiCommand('update'), CHANGES)
    .description(
      'Change the weight, the quotas or the retention of a project. Omitted options change nothing.',
    )
    .argument('<name>', 'name of the project')
    .addHelpText(
      'after',
      examples('echelon projects update vision --gpu-quota none --store-quota 800MB --retain batches=30'),
    )
    .action(async (name: string, options: Changes & ApiOptions) => {
      const body = changeOf(options);
      if (Object.keys(body).length === 0)
        throw new CliError(
          EXIT.usage,
          'No change was given. Give --weight, --gpu-quota, --store-quota or --retain.',
        );
      const client = await clientFor(options);
      const project = await change(client, name, body);
      output.line(options.json ? json(project) : projectTable([project], output.columns));
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

const remove = row({
  name: 'delete',
  description: 'Delete a project that has no experiments, sweeps or keys.',
  arguments: [['<name>', 'name of the project']],
  examples: ['echelon projects delete vision'],
  verb: 'delete',
  path: '/v1/projects/{name}',
  json: (_nothing, { name }) => ({ deleted: name }),
  print: (_nothing, { name }) => `${inert(name)} deleted`,
});

const description =
  'Manage projects: shares of the GPUs, quotas and retention. Without a command, list them.';

/** `echelon projects`. */
export const commands = {
  projects: group({ name: 'projects', alias: 'project', description }, [ls, get, add, update, remove]),
};
