import { partsOf, wholeNumber } from 'command-kit/arguments';
import { inert } from 'command-kit/inert';
import { plural } from 'command-kit/plural';
import { fittedTable, idColumn } from 'command-kit/table';
import { wrapped } from 'command-kit/width';
import { InvalidArgumentError } from 'commander';
import type { Experiment, ExperimentDetail } from 'echelon-client/calls';
import { restartInWords, restartsOf } from 'echelon-client/restarts';
import { STATES } from '../../core/states.ts';
import { type Client, MAX_PAGE, readPages } from '../client.ts';
import { type GivenTime, givenTime, instantOf } from '../instants.ts';
import { NAME_FORMS, sweepNamed } from '../names.ts';
import { EXPERIMENT, row } from '../row.ts';
import { coloredStatus, duration, NO_REASON, startsIn, successRate } from '../states.ts';
import { wrongSignalOf } from '../wrong-signal.ts';
import { partsOfExperiment, partTexts } from './experiment-parts.ts';

const { styleText } = process.getBuiltinModule('node:util');

/** A column of the list by its name; the highest `drop` is omitted first if the table is too wide. */
interface ListColumn {
  of(experiment: Experiment, now: number): string | number;
  drop?: number;
  minWidth?: number;
}

const COLUMNS: Readonly<Record<string, ListColumn>> = {
  id: { of: ({ id }) => id },
  name: { of: ({ name }) => inert(name), minWidth: 20 },
  project: { of: ({ project }) => inert(project), drop: 2 },
  owner: { of: ({ owner }) => inert(owner ?? '-') },
  state: { of: (one) => `${coloredStatus(one)}${one.quarantined ? ' (quarantined)' : ''}` },
  step: {
    of: ({ progress: { step, steps } }) => (steps > 0 ? `${step}/${steps}` : '-'),
    drop: 4,
  },
  success: { of: successRate, drop: 3 },
  verified: {
    of: ({ verification: { rowsSeen, rowsVerified } }) =>
      rowsSeen > 0 ? `${rowsVerified}/${rowsSeen}` : '-',
    drop: 5,
  },
  wrong: {
    of: ({ verification: { wrong } }) => (wrong > 0 ? styleText('red', String(wrong)) : wrong),
  },
  attempt: { of: ({ attempt }) => attempt },
  cluster: { of: ({ cluster }) => inert(cluster ?? '-') },
  gpus: { of: ({ gpus }) => gpus ?? '-' },
  tags: { of: ({ tags }) => inert(tags.join(', ')), minWidth: 12 },
  note: { of: ({ note }) => inert(note), minWidth: 16 },
  age: { of: ({ submittedAt }, now) => duration(now - submittedAt), drop: 1 },
};

/** Before the name of a metric whose latest value is a column. */
const METRIC = 'metric:';

function columnOf(name: string): ListColumn {
  if (!name.startsWith(METRIC)) return COLUMNS[name]!;
  return { of: ({ progress }) => inert(String(progress.metrics[name.slice(METRIC.length)] ?? '-')) };
}

function columnsFrom(text: string): string[] {
  const names = partsOf(text);
  if (names.every((name) => name.startsWith(METRIC) || Object.hasOwn(COLUMNS, name))) return names;
  throw new InvalidArgumentError(`The columns are ${Object.keys(COLUMNS).join(', ')} and metric:NAME.`);
}

const ls = row({
  name: 'ls',
  description: 'List experiments: running ones first, then queued, then ended ones, newest first.',
  options: [
    ['--state <states>', `only these states, separated by commas: ${STATES.join(', ')}`, statesOf],
    ['--project <project>', 'only this project'],
    ['--sweep <sweep>', `only children of this sweep: ${NAME_FORMS}`],
    ['--search <text>', 'only with this text in the id, the name, the note or a tag'],
    ['--tag <tag>', 'only with this tag'],
    [
      '--outcome <outcome>',
      'only with a wrong training signal (wrong), or with rows that are unverifiable or rounding',
      outcomeOf,
    ],
    ['--estimator <name>', 'only fingerprints that begin with this name'],
    [
      '--since <time>',
      'submitted since: 90min, 12h, 7d, or a date or time such as 2026-11-21 or 2026-11-21T14:30, in UTC',
      givenTime,
    ],
    ['--until <time>', 'submitted before: same forms as --since', givenTime],
    [
      '--sort <order>',
      'active, submitted, name, duration, progress, gpus, wrong, metric:NAME and others; - before it: largest first',
      'active',
    ],
    [
      '--columns <names>',
      `these columns, separated by commas: ${Object.keys(COLUMNS).join(', ')}, metric:NAME`,
      columnsFrom,
    ],
    ['-n, --limit <count>', 'maximum number of experiments', wholeNumber(1, 100_000), 20],
  ],
  examples: [
    'echelon ls --state running,queued',
    'echelon ls --search seed=3 --sort progress --columns id,name,metric:val/success_rate,note',
  ],
  verb: 'get',
  path: '/v1/experiments',
  pages: MAX_PAGE,
  input: async (options: ListOptions, client) => {
    const sweep = options.sweep && (await sweepNamed(client, options.sweep));
    const { sort, limit, since, until } = options;
    const submittedFrom = since && (await instantOf(since, client));
    const submittedBefore = until && (await instantOf(until, client));
    const times = { submittedFrom, submittedBefore };
    return { query: { ...filterOf(options), ...times, ...(sweep && { sweep }), sort, limit } };
  },
  print(page, options, output) {
    const { since, until, now, width, columns } = options;
    const isFiltered = Object.values({ ...filterOf(options), since, until }).some(
      (value) => value !== undefined,
    );
    if (page.items.length === 0) return isFiltered ? 'No experiments match.' : NONE;
    output.line(listTable(page.items, { width, now, names: columns }));
    if (page.next) output.remark('There are more experiments; --limit shows them.');
  },
});

const NONE = 'No experiments. Submit one with `echelon submit FILE`.';

interface ListOptions {
  state?: Experiment['state'][];
  project?: string;
  sweep?: string;
  outcome?: (typeof OUTCOMES)[number];
  estimator?: string;
  search?: string;
  tag?: string;
  sort: string;
  columns?: string[];
  since?: GivenTime;
  until?: GivenTime;
  limit: number;
}

function filterOf(options: ListOptions) {
  const { state, project, sweep, search, tag, outcome, estimator } = options;
  return { state, project, sweep, search, tag, outcome, estimator };
}

const OUTCOMES = ['wrong', 'unverifiable', 'rounding'] as const;

function outcomeOf(text: string): (typeof OUTCOMES)[number] {
  const outcome = OUTCOMES.find((one) => one === text);
  if (outcome === undefined) throw new InvalidArgumentError(`The outcomes are ${OUTCOMES.join(', ')}.`);
  return outcome;
}

function statesOf(text: string): Experiment['state'][] {
  return partsOf(text).map((name) => {
    const state = STATES.find((one) => one === name);
    if (state === undefined) throw new InvalidArgumentError(`The states are ${STATES.join(', ')}.`);
    return state;
  });
}

/** The columns of the list that are shown unless the user names others. */
const SHOWN = ['id', 'name', 'project', 'state', 'step', 'success', 'verified', 'wrong', 'age'];

/** One line per experiment; with the project if there are several projects. */
function listTable(
  items: readonly Experiment[],
  { width, now, names }: { width: number | undefined; now: number; names: readonly string[] | undefined },
): string {
  const several = new Set(items.map(({ project }) => project)).size > 1;
  const shown = names ?? SHOWN.filter((name) => name !== 'project' || several);
  const columns = shown.map((name) => {
    const { of: _of, drop = 0, ...column } = columnOf(name);
    const title = name.startsWith(METRIC) ? inert(name.slice(METRIC.length)) : name.toUpperCase();
    if (name === 'id') return idColumn(items.map(({ id }) => id));
    return { title, ...column, ...(names === undefined && { drop }) };
  });
  const rows = items.map((one) => shown.map((name) => columnOf(name).of(one, now)));
  return fittedTable(columns, rows, width);
}

const get = row({
  name: 'get',
  description:
    'Show an experiment: state, progress, verification, queue position, and its attempts, checkpoints and rules.',
  arguments: [EXPERIMENT],
  examples: ['echelon get exp-00cz8h3k7n2q4r5s6t7v', 'echelon get @last'],
  verb: 'get',
  path: '/v1/experiments/{id}',
  json: async (experiment, _given, client) => ({
    ...experiment,
    ...(await partsOfExperiment(client, experiment)),
  }),
  async print(experiment, { now, width }, _output, client) {
    const wrong = experiment.verification.signal === 'wrong' && (await wrongSignalOf(client, experiment));
    const facts = describe(experiment, { restarts: await restartsIn(client, experiment), wrong, now });
    return [wrapped(facts, width), ...partTexts(await partsOfExperiment(client, experiment), width)].join(
      '\n\n',
    );
  },
});

function queueFacts(
  { position, waitReason, estimate, noEstimate }: ExperimentDetail,
  now: number,
): [string, string][] {
  if (position === null) return [];
  const start = estimate === null ? `unknown: ${inert(noEstimate ?? '')}` : `in ${startsIn(estimate, now)}`;
  return [
    ['position', `${position.rank} of ${position.length} in the queue`],
    ['wait reason', inert(waitReason ?? NO_REASON)],
    ['start', start],
  ];
}

/** Batches that are read to tell which steps were trained again. */
const MAX_BATCHES = 5_000;

async function restartsIn(client: Client, { id, attempt }: ExperimentDetail): Promise<string[]> {
  if (attempt < 2) return [];
  const page = await readPages(
    (query) => client.get('/v1/experiments/{id}/batches', { path: { id }, query }),
    { limit: MAX_BATCHES, maxPage: MAX_PAGE },
  );
  return restartsOf(page.items).map(restartInWords);
}

interface Known {
  restarts: readonly string[];
  /** Why the training signal is wrong; false if it is not. */
  wrong: string | false;
  now: number;
}

function describe(experiment: ExperimentDetail, { restarts, wrong, now }: Known): string {
  const { verification: checked, progress } = experiment;
  const when = (ms: number | null): string => (ms === null ? '-' : new Date(ms).toISOString());
  const facts: [string, string][] = [
    ['id', experiment.id],
    ['name', inert(experiment.name)],
    ['state', `${coloredStatus(experiment)} (${inert(experiment.reason)})`],
    ...queueFacts(experiment, now),
    ['attempt', attemptOf(experiment)],
    ...restarts.map((one): [string, string] => ['restart', one]),
    ...(experiment.priorityClass === 'normal'
      ? []
      : [['class', experiment.priorityClass] as [string, string]]),
    ['submitted', when(experiment.submittedAt)],
    ['started', when(experiment.startedAt)],
    ['ended', when(experiment.endedAt)],
    ['stage', stageOf(progress)],
    ['success', successRate(experiment)],
    ['estimator', experiment.fingerprint ?? '-'],
    ['custom code', experiment.customCode ? 'yes: the spec loads it' : 'no'],
    [
      'verification',
      `${checked.status}: ${checked.rowsVerified} of ${checked.rowsSeen} rows; ${checked.exact} exact, ${checked.rounding} rounding, ${checked.wrong} wrong, ${checked.unverifiable} unverifiable; ${checked.errors} error findings`,
    ],
    ...wrongFact(wrong),
    ['rules', rulesOf(experiment)],
    ...(experiment.note === '' ? [] : [['note', inert(experiment.note)] as [string, string]]),
    ...(experiment.tags.length === 0
      ? []
      : [['tags', inert(experiment.tags.join(', '))] as [string, string]]),
    ...(experiment.rerunOf ? [['rerun of', experiment.rerunOf] as [string, string]] : []),
    ['checkpoint', experiment.checkpoint ? `step ${experiment.checkpoint.step}` : '-'],
  ];
  return facts.map(([name, value]) => `${name.padEnd(13)} ${value}`).join('\n');
}

const wrongFact = (wrong: string | false): [string, string][] =>
  wrong === false ? [] : [['wrong signal', `${inert(wrong)}; see \`batches --not-ok\``]];

/** "3 (2 restarts) on cluster a100". */
function attemptOf({ attempt, cluster }: Experiment): string {
  const restarts = attempt > 1 ? ` (${plural(attempt - 1, 'restart')})` : '';
  return `${attempt}${restarts}${cluster ? ` on cluster ${inert(cluster)}` : ''}`;
}

/** Stage and step. A trainer may report the step as its stage. */
function stageOf({ stage, step, steps }: Experiment['progress']): string {
  const name = inert(stage);
  const progressText = steps === 0 ? '' : `step ${step} of ${steps}`;
  return name === progressText ? name || '-' : [name, progressText].filter(Boolean).join(', ');
}

/** The last time that each rule fired; a table shows the details. */
function rulesOf({ rules, marks }: Pick<Experiment, 'rules' | 'marks'>): string {
  if (marks === 0) return rules.length === 0 ? 'none' : `${rules.length}, none fired`;
  const fired = rules.flatMap((rule) => rule.fired.slice(-1).map(({ reason }) => inert(reason)));
  return `fired ${marks === 1 ? 'once' : `${marks} times`}: ${fired.join('; ')}`;
}

/** The commands that show one experiment or many. */
export const commands = { ls, get };
