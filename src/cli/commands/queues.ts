import { wholeNumber } from 'command-kit/arguments';
import { inert } from 'command-kit/inert';
import { fittedTable, idColumn } from 'command-kit/table';
import type { Queue } from 'echelon-client/calls';
import { group } from '../group.ts';
import { row } from '../row.ts';
import { duration, NO_REASON, startsIn } from '../states.ts';

type Pauses = Queue['paused'];
type Pause = NonNullable<Pauses['all']>;

const ls = row({
  name: 'ls',
  description: 'List the queued experiments with their needs, estimated starts and wait reasons.',
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

const description =
  'Show and control the queues of projects. Without a command, list the queued experiments.';

/** `echelon queues`. */
export const commands = {
  queues: group({ name: 'queues', alias: 'queue', description }, [ls, pause, close, resume]),
};
