import type { Command } from 'commander';
import type { Queue } from 'echelon-client/calls';
import { wholeNumber } from 'echelon-verify/cli/arguments';
import { examples } from 'echelon-verify/cli/examples';
import { json, type Output } from 'echelon-verify/cli/output';
import { fittedTable, idColumn, widthFor, withWide } from 'echelon-verify/cli/table';
import { inert } from 'echelon-verify/text/inert';
import type { Client } from '../client.ts';
import { apiCommand, type ConnectionOptions, clientFor } from '../connection.ts';
import { group } from '../group.ts';
import { experimentNamed, NAME_FORMS } from '../names.ts';
import { NO_REASON, startsIn } from '../starts-in.ts';
import { whatIfCommand, whatIfText } from './what-if.ts';

type Options = ConnectionOptions & {
  json?: boolean;
  limit: number;
  reason?: string;
  output?: string;
  dryRun?: boolean;
};

type Pauses = Queue['paused'];
type Pause = NonNullable<Pauses['all']>;

/** The API's name for the queue of all projects. */
const ALL_PROJECTS = '_all';

/** `echelon queues`: the queued experiments; pause, close and resume. */
export function queuesCommand(output: Output): Command {
  return group(
    {
      name: 'queues',
      alias: 'queue',
      description: 'Show and control the queues of projects. Without a command, list the queued experiments.',
    },
    [list(output), whatIfCommand(output), pause(output), close(output), resume(output)],
  );
}

function list(output: Output): Command {
  return withWide(apiCommand('ls'))
    .description('List the queued experiments with their needs, estimated starts and wait reasons.')
    .option('-n, --limit <count>', 'maximum number of experiments', wholeNumber(1, 100_000), 50)
    .addHelpText('after', examples('echelon queues', 'echelon queues ls --limit 10 --json'))
    .action(async (options: Options) => {
      const client = await clientFor(options);
      const queue = await readQueue(client, options.limit);
      if (options.json) return output.line(json(queue));
      for (const text of pausesInWords(queue)) output.remark(text);
      if (queue.items.length === 0) return output.line('No experiment is queued.');
      output.line(queueTable(queue, Date.now(), widthFor(output, options)));
      if (queue.next !== null) output.remark(`${queue.length} experiments are queued; --limit shows more.`);
    });
}

const MAX_QUEUE_PAGE = 1000;

/** The first `limit` queued experiments, from as many pages as that takes, with the other fields of the last page. */
async function readQueue(client: Client, limit: number): Promise<Queue> {
  const items: Queue['items'] = [];
  let cursor: string | undefined;
  for (;;) {
    const query = { limit: Math.min(MAX_QUEUE_PAGE, limit - items.length), cursor };
    const page = await client.get('/v1/queues', { query });
    items.push(...page.items);
    if (page.next === null || items.length >= limit) return { ...page, items };
    cursor = page.next;
  }
}

/** One line per queued experiment. `now`: ms since 1970. */
export function queueTable({ items }: Pick<Queue, 'items'>, now: number, width?: number | undefined): string {
  const columns = [
    { title: '#' },
    idColumn(items.map(({ experiment }) => experiment)),
    { title: 'NAME', minWidth: 10 },
    { title: 'PROJECT', drop: 2 },
    { title: 'PRIORITY', drop: 3 },
    { title: 'NEEDS', drop: 1 },
    { title: 'STARTS IN', minWidth: 9, cut: firstPart },
    { title: 'WAIT REASON', minWidth: 24, cut: firstPart },
  ];
  return fittedTable(
    columns,
    items.map((one) => [
      one.position,
      one.experiment,
      inert(one.name),
      inert(one.project),
      one.priority,
      needs(one),
      startsIn(one.estimate, now),
      inert(one.waitReason ?? NO_REASON),
    ]),
    width,
  );
}

/** "4 GPU, 10 CPU"; of several nodes "2 × 4 GPU, 20 CPU". */
function needs({ nodes, gpus, cpus }: { nodes: number; gpus: number; cpus: number }): string {
  if (gpus === 0) return `${cpus} CPU`;
  return `${nodes > 1 ? `${nodes} × ` : ''}${gpus / nodes} GPU, ${cpus} CPU`;
}

/** The first words of a reason or an estimate say most. */
const firstPart = (text: string, width: number): string => `${text.slice(0, width - 1).trimEnd()}…`;

function pausesInWords({ paused, closed }: Pick<Queue, 'paused' | 'closed'>): string[] {
  const words = ({ all, projects }: Pauses, what: string) => {
    const by = ({ by, reason }: Pause) =>
      `${what} by ${inert(by)}${reason === null ? '' : `: ${inert(reason)}`}`;
    const ofProjects = Object.entries(projects).map(
      ([name, one]) => `The queue of ${inert(name)} is ${by(one)}`,
    );
    return all === null ? ofProjects : [`The queue of all projects is ${by(all)}`, ...ofProjects];
  };
  return [...words(paused, 'paused'), ...words(closed, 'closed for new experiments')];
}

function pause(output: Output): Command {
  const command = apiCommand('pause')
    .description('Start no new experiment of a project, or of all projects. Running experiments continue.')
    .argument('[project]', 'name of the project (default: all projects)')
    .option('--reason <text>', 'reason that users with queued experiments see')
    .addHelpText(
      'after',
      examples('echelon queues pause --reason "maintenance until 6 pm"', 'echelon queues pause vision'),
    );
  return withPost(command, '/v1/queues/{name}/pause', { output, outcome: 'is paused' });
}

function close(output: Output): Command {
  const command = apiCommand('close')
    .description('Accept no new experiment of a project, or of all projects. Queued experiments still start.')
    .argument('[project]', 'name of the project (default: all projects)')
    .option('--reason <text>', 'reason that users who submit see')
    .addHelpText(
      'after',
      examples('echelon queues close --reason "the cluster moves on Friday"', 'echelon queues close vision'),
    );
  return withPost(command, '/v1/queues/{name}/close', { output, outcome: 'accepts no new experiments' });
}

function resume(output: Output): Command {
  const command = apiCommand('resume')
    .description('Resume the paused or closed queue of a project, or of all projects.')
    .argument('[project]', 'name of the project (default: all projects)')
    .addHelpText('after', examples('echelon queues resume', 'echelon queues resume vision'));
  return withPost(command, '/v1/queues/{name}/resume', { output, outcome: 'is resumed' });
}

/** Lets a command send one request to a queue and print the outcome. */
function withPost(
  command: Command,
  path: `/v1/queues/{name}/${'pause' | 'close' | 'resume'}`,
  { output, outcome }: { output: Output; outcome: string },
): Command {
  return command.action(async (project: string | undefined, options: Options) => {
    const client = await clientFor(options);
    const body = options.reason === undefined ? undefined : { reason: options.reason };
    const input = { path: { name: project ?? ALL_PROJECTS }, ...(body && { body }) };
    const answer = await client.post(path, input);
    const queue = project === undefined ? 'The queue of all projects' : `The queue of ${inert(project)}`;
    output.line(options.json ? json(answer) : `${queue} ${outcome}.`);
  });
}

/** `echelon priority ID PRIORITY`. */
export function priorityCommand(output: Output): Command {
  return apiCommand('priority')
    .description('Change the priority of a queued experiment.')
    .argument('<id>', `experiment: ${NAME_FORMS}`)
    .argument('<priority>', 'from -100 to 100; higher starts first', wholeNumber(-100, 100))
    .option('--dry-run', 'show when it would start, and which experiments would start later; change nothing')
    .addHelpText(
      'after',
      examples(
        'echelon priority exp-00cz8h3k7n2q4r5s6t7v 10',
        'echelon priority exp-00cz8h3k7n2q4r5s6t7v -5 --dry-run',
      ),
    )
    .action(async (name: string, priority: number, options: Options) => {
      const client = await clientFor(options);
      const path = { id: await experimentNamed(client, name) };
      if (options.dryRun) {
        const body = { experiment: path.id, priority };
        const found = await client.post('/v1/queues/what-if', { body });
        return output.line(options.json ? json(found) : whatIfText(found, Date.now()));
      }
      const experiment = await client.patch('/v1/experiments/{id}', { path, body: { priority } });
      const { position } = experiment;
      const place = position === null ? '' : `, at position ${position.rank} of ${position.length}`;
      output.line(
        options.json ? json(experiment) : `${experiment.id} has priority ${experiment.priority}${place}`,
      );
    });
}
