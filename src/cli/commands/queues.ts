import { wholeNumber } from 'command-kit/arguments';
import { examples } from 'command-kit/examples';
import { inert } from 'command-kit/inert';
import { json, type Output } from 'command-kit/output';
import { counted } from 'command-kit/plural';
import { fittedTable, idColumn, table } from 'command-kit/table';
import { wrapped } from 'command-kit/width';
import type { Command } from 'commander';
import type { ExperimentSpec, Queue, WhatIf } from 'echelon-client/calls';
import { shortNode } from 'echelon-client/short-node';
import { type ApiOptions, apiCommand, clientFor } from '../connection.ts';
import { readSpec } from '../folder-files.ts';
import { group } from '../group.ts';
import { experimentNamed, NAME_FORMS } from '../names.ts';
import { row } from '../row.ts';
import { changedSpec, SPEC_CHANGES, type SpecChanges } from '../spec-changes.ts';
import { requireKind } from '../spec-file.ts';
import { duration, NO_REASON, startsIn } from '../states.ts';

type Pauses = Queue['paused'];
type Pause = NonNullable<Pauses['all']>;

const ls = row({
  name: 'ls',
  description: 'List the queued experiments with their needs, estimated starts and wait reasons.',
  wide: true,
  options: [['-n, --limit <count>', 'maximum number of experiments', wholeNumber(1, 100_000), 50]],
  examples: ['echelon queues', 'echelon queues ls --limit 10 --json'],
  verb: 'get',
  path: '/v1/queues',
  pages: 1000,
  input: ({ limit }: { limit: number }) => ({ query: { limit } }),
  print(queue, { width, now }, output) {
    if (!queue.dispatchers.present) output.remark(abandonedInWords(queue, now));
    for (const text of pausesInWords(queue)) output.remark(text);
    if (queue.items.length === 0) return 'No experiment is queued.';
    output.line(queueTable(queue, now, width));
    if (queue.next !== null) output.remark(`${queue.length} experiments are queued; --limit shows more.`);
  },
});

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
      classed(one),
      needs(one),
      startsIn(one.estimate, now),
      inert(one.waitReason ?? NO_REASON),
    ]),
    width,
  );
}

/** "5", or with a class other than normal "urgent 5". */
function classed({ priority, priorityClass }: Queue['items'][number]): string {
  return priorityClass === 'normal' ? String(priority) : `${priorityClass} ${priority}`;
}

/** "4 GPU, 10 CPU"; of several nodes "2 × 4 GPU, 20 CPU". */
function needs({ nodes, gpus, cpus }: { nodes: number; gpus: number; cpus: number }): string {
  if (gpus === 0) return `${cpus} CPU`;
  return `${nodes > 1 ? `${nodes} × ` : ''}${gpus / nodes} GPU, ${cpus} CPU`;
}

/** The first words of a reason or an estimate say most. */
const firstPart = (text: string, width: number): string => `${text.slice(0, width - 1).trimEnd()}…`;

function abandonedInWords({ dispatchers: { lastSeenAt } }: Pick<Queue, 'dispatchers'>, now: number): string {
  const age = lastSeenAt === null ? '' : `, and these values are ${duration(now - lastSeenAt)} old`;
  return `No dispatcher is connected: nothing starts${age}. Start one with \`echelon dispatcher\`.`;
}

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

/** The API's name for the queue of all projects. */
const ALL_PROJECTS = '_all';

const PROJECT = ['[project]', 'name of the project (default: all projects)'] as const;

interface Control {
  project?: string;
  reason?: string;
}

const controlled = ({ project, reason }: Control) => ({
  path: { name: project ?? ALL_PROJECTS },
  ...(reason !== undefined && { body: { reason } }),
});

const queueOf = ({ project }: Control): string =>
  project === undefined ? 'The queue of all projects' : `The queue of ${inert(project)}`;

const pause = row({
  name: 'pause',
  description: 'Start no new experiment of a project, or of all projects. Running experiments continue.',
  arguments: [PROJECT],
  options: [['--reason <text>', 'reason that users with queued experiments see']],
  examples: ['echelon queues pause --reason "maintenance until 6 pm"', 'echelon queues pause vision'],
  verb: 'post',
  path: '/v1/queues/{name}/pause',
  input: controlled,
  print: (_queue, given) => `${queueOf(given)} is paused.`,
});

const close = row({
  name: 'close',
  description: 'Accept no new experiment of a project, or of all projects. Queued experiments still start.',
  arguments: [PROJECT],
  options: [['--reason <text>', 'reason that users who submit see']],
  examples: ['echelon queues close --reason "the cluster moves on Friday"', 'echelon queues close vision'],
  verb: 'post',
  path: '/v1/queues/{name}/close',
  input: controlled,
  print: (_queue, given) => `${queueOf(given)} accepts no new experiments.`,
});

const resume = row({
  name: 'resume',
  description: 'Resume the paused or closed queue of a project, or of all projects.',
  arguments: [PROJECT],
  examples: ['echelon queues resume', 'echelon queues resume vision'],
  verb: 'post',
  path: '/v1/queues/{name}/resume',
  input: controlled,
  print: (_queue, given) => `${queueOf(given)} is resumed.`,
});

const whatIf = row({
  name: 'what-if',
  description: 'Show when a spec would start if submitted now, and which experiments it would delay',
  arguments: [['<file>', 'file with the spec, YAML or JSON; - is standard input']],
  options: SPEC_CHANGES,
  examples: [
    'echelon queues what-if deploy/examples/hgpo.yaml',
    'echelon queues what-if deploy/examples/hgpo.yaml --priority 5',
  ],
  verb: 'post',
  path: '/v1/queues/what-if',
  async input({ file, ...changes }: SpecChanges & { file: string }, _client, output) {
    const given = await readSpec(file, output);
    requireKind(file, given, 'experiment');
    // The API validates it.
    return { body: { spec: changedSpec(given, changes) as ExperimentSpec } };
  },
  print: (found, { width, now }) => whatIfText(found, now, width),
});

/** The answer in words. `now`: ms since 1970. */
export function whatIfText(
  { before, after, later, earlier, shifts }: WhatIf,
  now: number,
  width?: number | undefined,
): string {
  const lines = [`Would start ${startOf(after, now)}.`];
  if (before !== null) lines.push(`Without the change: ${startOf(before, now)}.`);
  if (after.waitReason !== null) lines.push(inert(after.waitReason));
  lines.push('', `${counted(later, 'queued experiment')} would start later, ${earlier} earlier.`);
  const rows = shifts.map(({ experiment, name, project, from, to }) => [
    experiment,
    inert(name),
    inert(project),
    duration(from.startAt - now),
    to === null ? '?' : duration(to.startAt - now),
  ]);
  if (rows.length > 0)
    lines.push(table(['ID', 'NAME', 'PROJECT', 'STARTS IN', 'WOULD START IN'], rows, width));
  return lines.join('\n');
}

function startOf({ startsNow, position, estimate, noEstimate, place }: WhatIf['after'], now: number): string {
  if (startsNow) return 'now';
  const rank = position === null ? '' : `, at position ${position}`;
  if (estimate === null) return `at an unknown time${rank}: ${inert(noEstimate ?? '')}`;
  const where = place === null ? '' : `, on ${place.cluster} ${place.nodes.map(shortNode).join(', ')}`;
  return `in ${startsIn(estimate, now)}${rank}${where}`;
}

function priority(output: Output): Command {
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
    .action(async (name: string, priority: number, options: ApiOptions & { dryRun?: boolean }) => {
      const client = await clientFor(options);
      const path = { id: await experimentNamed(client, name) };
      if (options.dryRun) {
        const body = { experiment: path.id, priority };
        const found = await client.post('/v1/queues/what-if', { body });
        const { columns } = output;
        return output.line(
          options.json ? json(found) : wrapped(whatIfText(found, client.now(), columns), columns),
        );
      }
      const experiment = await client.patch('/v1/experiments/{id}', { path, body: { priority } });
      const { position } = experiment;
      const place = position === null ? '' : `, at position ${position.rank} of ${position.length}`;
      output.line(
        options.json ? json(experiment) : `${experiment.id} has priority ${experiment.priority}${place}`,
      );
    });
}

const description =
  'Show and control the queues of projects. Without a command, list the queued experiments.';

/** When experiments start: `echelon queues` and `priority`. */
export const commands = {
  queues: group({ name: 'queues', alias: 'queue', description }, [ls, whatIf, pause, close, resume]),
  priority,
};
