import type { Command } from 'commander';
import type { ExperimentDetail } from '../../schemas/api.ts';
import { wholeNumber } from '../arguments.ts';
import type { Client } from '../client.ts';
import { allOptions, apiCommand, type ConnectionOptions, clientFor } from '../connection.ts';
import { experimentNamed, NAMES_IT } from '../names.ts';
import { duration, inert, json, type Output } from '../output.ts';
import { fittedTable, idColumn, widthFor, withWide } from '../table.ts';

type Options = ConnectionOptions & { json?: boolean; limit: number; reason?: string; output?: string };

/** The line as GET /v1/queues tells it, as far as it is printed. */
export interface QueueShown {
  length: number;
  items: {
    position: number;
    experiment: string;
    name: string;
    project: string;
    priority: number;
    gpus: number;
    cpus: number;
    waitReason: string | null;
    estimate: ExperimentDetail['estimate'];
  }[];
  next: string | null;
  paused: Held;
  closed: Held;
}

interface Held {
  all: Paused | null;
  projects: Record<string, Paused>;
}

interface Paused {
  by: string;
  reason: string | null;
}

const ALL_PROJECTS = '_all';

/** `echelon queue`, its pause, close and resume; `echelon priority`. */
export function queueCommands(output: Output): Command[] {
  const queue = withWide(apiCommand('queue'))
    .summary('show who waits, why, and when each is expected to start')
    .description('show who waits: place, needs, when it is expected to start, and why it waits')
    .option('-n, --limit <count>', 'at most so many', wholeNumber(1, 100_000), 50)
    .addHelpText(
      'after',
      '\nExamples:\n  echelon queue\n  echelon queue pause --reason "maintenance until 6 pm"\n  echelon queue resume\n  echelon queue pause team-a',
    )
    .action(async (options: Options) => {
      const client = await clientFor(options);
      const line = await queueShown(client, options.limit);
      if (options.json) return output.line(json(line));
      for (const text of heldInWords(line)) output.remark(text);
      if (line.items.length === 0) return output.line('Nobody waits.');
      output.line(queueTable(line, Date.now(), widthFor(output, options)));
      if (line.next !== null) output.remark(`${line.length} wait; --limit shows more of them.`);
    });
  for (const sub of [pause(output), close(output), resume(output)]) queue.addCommand(sub);
  return [queue, priority(output)];
}

/** As many of the line as are wanted, page by page, with what the last page tells besides. */
async function queueShown(client: Client, limit: number): Promise<QueueShown> {
  const items: QueueShown['items'] = [];
  let cursor: string | undefined;
  for (;;) {
    const most = Math.min(1000, limit - items.length);
    const page = await client.get<QueueShown>('/v1/queues', { limit: most, cursor });
    items.push(...page.items);
    if (page.next === null || items.length >= limit) return { ...page, items };
    cursor = page.next;
  }
}

/** A row for each that waits. `now`: ms since 1970. */
export function queueTable(
  { items }: Pick<QueueShown, 'items'>,
  now: number,
  width?: number | undefined,
): string {
  const columns = [
    { title: '#' },
    idColumn(items.map(({ experiment }) => experiment)),
    { title: 'NAME', least: 10 },
    { title: 'PROJECT', drop: 2 },
    { title: 'PRIORITY', drop: 3 },
    { title: 'NEEDS', drop: 1 },
    { title: 'STARTS IN', least: 9, cut: startOf },
    { title: 'WHY IT WAITS', least: 24, cut: startOf },
  ];
  return fittedTable(
    columns,
    items.map((one) => [
      one.position,
      one.experiment,
      inert(one.name),
      inert(one.project),
      one.priority,
      one.gpus > 0 ? `${one.gpus} GPU, ${one.cpus} CPU` : `${one.cpus} CPU`,
      startsIn(one.estimate, now),
      inert(one.waitReason ?? 'not looked at yet'),
    ]),
    width,
  );
}

/** What stands first says most. */
const startOf = (text: string, width: number): string => `${text.slice(0, width - 1).trimEnd()}…`;

/** "12 min (8 min to 20 min)"; "?" where nobody knows. */
export function startsIn(estimate: ExperimentDetail['estimate'], now: number): string {
  if (estimate === null) return '?';
  const [likely, early, late] = [estimate.startAt, estimate.earliest, estimate.latest].map((at) =>
    duration(at - now),
  );
  return early === late ? `${likely}` : `${likely} (${early} to ${late})`;
}

function heldInWords({ paused, closed }: Pick<QueueShown, 'paused' | 'closed'>): string[] {
  const words = ({ all, projects }: Held, how: string) => {
    const by = ({ by, reason }: Paused) =>
      `${how} by ${inert(by)}${reason === null ? '' : `: ${inert(reason)}`}`;
    const ofProjects = Object.entries(projects).map(([name, held]) => `The queue of ${name} ${by(held)}`);
    return all === null ? ofProjects : [`The queue ${by(all)}`, ...ofProjects];
  };
  return [...words(paused, 'is paused'), ...words(closed, 'accepts no new experiments; it was closed')];
}

function pause(output: Output): Command {
  const sub = apiCommand('pause')
    .summary('let nothing new start, of a project or of all')
    .description('let nothing new start, of a project or (without one) at all; what runs goes on')
    .argument('[project]')
    .option('--reason <text>', 'shown to everybody who waits')
    .addHelpText(
      'after',
      '\nExamples:\n  echelon queue pause --reason "maintenance until 6 pm"\n  echelon queue pause vision',
    );
  return held(sub, output, 'is paused');
}

function close(output: Output): Command {
  const sub = apiCommand('close')
    .summary('accept no new experiments, of one project or of all')
    .description(
      'accept no new experiments in the queue of a project, or (without one) of all projects; queued experiments still start',
    )
    .argument('[project]')
    .option('--reason <text>', 'shown to callers that submit')
    .addHelpText(
      'after',
      '\nExamples:\n  echelon queue close --reason "the cluster moves on Friday"\n  echelon queue close vision',
    );
  return held(sub, output, 'accepts no new experiments');
}

/** A command that holds a queue back by the request of its name, and says what is so then. */
function held(sub: Command, output: Output, words: string): Command {
  return sub.action(async (project: string | undefined, _own: Options, command: Command) => {
    const options = allOptions<Options>(command);
    const client = await clientFor(options);
    const body = options.reason === undefined ? undefined : { reason: options.reason };
    const answer = await client.post(`${pathOf(project)}/${sub.name()}`, body);
    output.line(options.json ? json(answer) : `${whose(project)} ${words}`);
  });
}

function resume(output: Output): Command {
  return apiCommand('resume')
    .summary('resume a paused or closed queue')
    .description('resume the paused or closed queue of a project, or (without one) of all projects')
    .argument('[project]')
    .addHelpText('after', '\nExamples:\n  echelon queue resume\n  echelon queue resume vision')
    .action(async (project: string | undefined, _own: Options, command: Command) => {
      const options = allOptions<Options>(command);
      const client = await clientFor(options);
      const answer = await client.post(`${pathOf(project)}/resume`, undefined);
      output.line(options.json ? json(answer) : `${whose(project)} goes on`);
    });
}

const pathOf = (project = ALL_PROJECTS): string => `/v1/queues/${encodeURIComponent(project)}`;
const whose = (project?: string): string => (project === undefined ? 'the queue' : `the queue of ${project}`);

function priority(output: Output): Command {
  return apiCommand('priority')
    .summary('change the priority of an experiment that waits')
    .description('change the priority of an experiment that waits: -100 to 100, higher goes first')
    .argument('<id>', NAMES_IT)
    .argument('<priority>', 'a negative one goes behind all the others', wholeNumber(-100, 100))
    .addHelpText(
      'after',
      '\nExamples:\n  echelon priority exp-00cz8h3k7n2q4r5s6t7v 10\n  echelon priority exp-00cz8h3k7n2q4r5s6t7v -5',
    )
    .action(async (name: string, value: number, options: Options) => {
      const client = await clientFor(options);
      const id = await experimentNamed(client, name);
      const path = `/v1/experiments/${encodeURIComponent(id)}`;
      const experiment = await client.patch<ExperimentDetail>(path, { priority: value });
      const place =
        experiment.position === null
          ? ''
          : `, at place ${experiment.position.rank} of ${experiment.position.length}`;
      output.line(
        options.json ? json(experiment) : `${experiment.id} has priority ${experiment.priority}${place}`,
      );
    });
}
