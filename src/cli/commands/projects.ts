import { type Command, InvalidArgumentError } from 'commander';
import type { Project, ProjectChange } from '../../schemas/project.ts';
import type { Retention } from '../../schemas/retention.ts';
import { allOptions, apiCommand, type ConnectionOptions, clientFor } from '../connection.ts';
import { CliError, EXIT } from '../exit.ts';
import { inert, json, type Output, table } from '../output.ts';

type Options = ConnectionOptions & { json?: boolean };

/** A whole number, or the word for no limit; commander takes no null. */
type Count = number | 'none' | 'ever';

interface ChangeOptions extends Options {
  weight?: number;
  gpuQuota?: Count;
  keepBatches?: Count;
  keepStreams?: Count;
  keepRecords?: Count;
  keepEventLogs?: Count;
}

/** `echelon projects`: list, make, change and remove. */
export function projectsCommand(output: Output): Command {
  const command = apiCommand('projects')
    .summary('list the projects; add, change or remove one')
    .description('list the projects that your key sees: weight, GPU quota, what is kept')
    .addHelpText('after', '\nExample:\n  echelon projects add vision --weight 2 --gpu-quota 16')
    .action(async (options: Options) => {
      const client = await clientFor(options);
      const list = await client.get<{ items: Project[] }>('/v1/projects');
      output.line(options.json ? json(list) : projectTable(list.items));
    });
  for (const sub of [add(output), set(output), remove(output)]) command.addCommand(sub);
  return command;
}

const pathOf = (name: string): string => `/v1/projects/${encodeURIComponent(name)}`;

/** One line for each project. */
export function projectTable(projects: readonly Project[]): string {
  return table(
    ['NAME', 'WEIGHT', 'GPU QUOTA', 'BATCHES KEPT', 'STREAMS KEPT', 'RECORDS KEPT', 'EVENT LOGS KEPT'],
    projects.map(({ name, weight, gpuQuota, retention }) => [
      inert(name),
      weight,
      gpuQuota ?? 'none',
      ...(['batchesDays', 'streamsDays', 'recordsDays', 'eventLogsDays'] as const).map((field) =>
        kept(retention, field),
      ),
    ]),
  );
}

function kept(retention: Project['retention'], field: keyof Retention): string {
  const days = retention?.[field];
  if (days === undefined) return 'default';
  return days === null ? 'ever' : `${days} d`;
}

const changes = (command: Command): Command =>
  command
    .option('--weight <number>', 'share of the GPUs against other projects (1)', positive)
    .option('--gpu-quota <count>', 'GPUs at once at most; none: no limit', (text) => countOr('none', text))
    .option('--keep-batches <days>', 'how long bytes of batches are kept; ever', days)
    .option('--keep-streams <days>', 'how long events, logs, metrics and reports are kept; ever', days)
    .option('--keep-records <days>', 'how long records are kept; ever', days)
    .option('--keep-event-logs <days>', 'how long clusters keep event logs, 7 at least; ever', days);

function positive(text: string): number {
  const number = Number(text);
  if (!(number > 0 && Number.isFinite(number))) throw new InvalidArgumentError('not a number above 0');
  return number;
}

function countOr(word: 'none' | 'ever', text: string): Count {
  if (text === word) return word;
  if (!/^\d{1,7}$/.test(text)) throw new InvalidArgumentError(`neither a whole number nor ${word}`);
  return Number(text);
}

const days = (text: string): Count => countOr('ever', text);
const orNull = (count: Count): number | null => (typeof count === 'number' ? count : null);

function changeOf(options: ChangeOptions): ProjectChange {
  const { weight, gpuQuota, keepBatches, keepStreams, keepRecords, keepEventLogs } = options;
  const retention = {
    ...(keepBatches !== undefined && { batchesDays: orNull(keepBatches) }),
    ...(keepStreams !== undefined && { streamsDays: orNull(keepStreams) }),
    ...(keepRecords !== undefined && { recordsDays: orNull(keepRecords) }),
    ...(keepEventLogs !== undefined && { eventLogsDays: orNull(keepEventLogs) }),
  };
  return {
    ...(weight !== undefined && { weight }),
    ...(gpuQuota !== undefined && { gpuQuota: orNull(gpuQuota) }),
    ...(Object.keys(retention).length > 0 && { retention }),
  };
}

function add(output: Output): Command {
  return changes(apiCommand('add'))
    .description('make a project')
    .argument('<name>')
    .addHelpText('after', '\nExample:\n  echelon projects add vision --weight 2 --gpu-quota 16')
    .action(async (name: string, _own: ChangeOptions, command: Command) => {
      const options = allOptions<ChangeOptions>(command);
      const client = await clientFor(options);
      const project = await client.post<Project>('/v1/projects', { name, ...changeOf(options) });
      output.line(options.json ? json(project) : projectTable([project]));
    });
}

function set(output: Output): Command {
  return changes(apiCommand('set'))
    .summary('change the weight, the GPU quota or what is kept')
    .description('change the weight, the GPU quota or what is kept; what is not named stays')
    .argument('<name>')
    .addHelpText('after', '\nExample:\n  echelon projects set vision --gpu-quota none --keep-batches 30')
    .action(async (name: string, _own: ChangeOptions, command: Command) => {
      const options = allOptions<ChangeOptions>(command);
      const change = changeOf(options);
      if (Object.keys(change).length === 0) {
        throw new CliError(EXIT.usage, 'Nothing to change: name --weight, --gpu-quota or a --keep-… option.');
      }
      const client = await clientFor(options);
      if (change.retention) {
        const { retention } = await client.get<Project>(pathOf(name));
        change.retention = { ...retention, ...change.retention };
      }
      const project = await client.patch<Project>(pathOf(name), change);
      output.line(options.json ? json(project) : projectTable([project]));
    });
}

function remove(output: Output): Command {
  return apiCommand('rm')
    .description('remove a project to which nothing belongs any more')
    .argument('<name>')
    .addHelpText('after', '\nExample:\n  echelon projects rm vision')
    .action(async (name: string, _own: Options, command: Command) => {
      const options = allOptions<Options>(command);
      const client = await clientFor(options);
      await client.delete(pathOf(name));
      output.line(options.json ? json({ removed: name }) : `${inert(name)} removed`);
    });
}
