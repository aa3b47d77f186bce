import { type Command, InvalidArgumentError } from 'commander';
import type { Experiment, ExperimentDetail, ExperimentPage } from 'echelon-client/calls';
import { secondsOf, wholeNumber } from 'echelon-verify/cli/arguments';
import { examples } from 'echelon-verify/cli/examples';
import { json, type Output } from 'echelon-verify/cli/output';
import { fittedTable, idColumn, widthFor, withWide } from 'echelon-verify/cli/table';
import { inert } from 'echelon-verify/text/inert';
import { STATES } from '../../core/states.ts';
import { apiCommand, type ConnectionOptions, clientFor } from '../connection.ts';
import { experimentNamed, NAME_FORMS, sweepNamed } from '../names.ts';
import { readPages } from '../pages.ts';
import { NO_REASON, startsIn } from '../starts-in.ts';
import { coloredState, duration, successRate } from '../states.ts';

type Options = ConnectionOptions & { json?: boolean };

/** `echelon ls`: the experiments. */
export function listCommand(output: Output): Command {
  return withWide(apiCommand('ls'))
    .description('List experiments, newest first.')
    .option('--state <states>', `only these states, separated by commas: ${STATES.join(', ')}`, statesOf)
    .option('--project <project>', 'only this project')
    .option('--sweep <sweep>', `only children of this sweep: ${NAME_FORMS}`)
    .option('--name <name>', 'only names that begin with this text')
    .option('--outcome <outcome>', 'only with rows that are wrong, unverifiable or rounding', outcomeOf)
    .option('--estimator <name>', 'only fingerprints that begin with this name')
    .option('--since <time>', 'submitted since: 90min, 12h, 7d, or a date such as 2026-11-21', instant)
    .option('--until <time>', 'submitted before: same forms as --since', instant)
    .option('-n, --limit <count>', 'maximum number of experiments', wholeNumber(1, 100_000), 20)
    .addHelpText(
      'after',
      examples('echelon ls --state running,queued', 'echelon ls --name "hgpo K=4" --since 7d --json'),
    )
    .action(async (options: ListOptions) => {
      const client = await clientFor(options);
      const sweep = options.sweep && (await sweepNamed(client, options.sweep));
      const { state, project, name, outcome, estimator, limit } = options;
      const { since: submittedFrom, until: submittedBefore } = options;
      const named = { state, project, name, outcome, estimator, ...(sweep && { sweep }) };
      const filter = { ...named, submittedFrom, submittedBefore };
      const page: ExperimentPage = await readPages(
        (place) => client.get('/v1/experiments', { query: { ...filter, ...place } }),
        { limit },
      );
      if (options.json) return output.line(json(page));
      const isFiltered = Object.values(filter).some((value) => value !== undefined);
      if (page.items.length === 0) return output.line(isFiltered ? 'No experiments match.' : NONE);
      output.line(listTable(page.items, widthFor(output, options)));
      if (page.next) output.remark('There are more experiments; --limit shows them.');
    });
}

const NONE = 'No experiments. Submit one with `echelon submit FILE`.';

interface ListOptions extends Options {
  output?: string;
  state?: Experiment['state'][];
  project?: string;
  sweep?: string;
  name?: string;
  outcome?: (typeof OUTCOMES)[number];
  estimator?: string;
  since?: number;
  until?: number;
  limit: number;
}

const OUTCOMES = ['wrong', 'unverifiable', 'rounding'] as const;

function outcomeOf(text: string): (typeof OUTCOMES)[number] {
  const outcome = OUTCOMES.find((one) => one === text);
  if (outcome === undefined) throw new InvalidArgumentError(`The outcomes are ${OUTCOMES.join(', ')}.`);
  return outcome;
}

function statesOf(text: string): Experiment['state'][] {
  return text.split(',').map((name) => {
    const state = STATES.find((one) => one === name.trim());
    if (state === undefined) throw new InvalidArgumentError(`The states are ${STATES.join(', ')}.`);
    return state;
  });
}

/** The time of a text that is a duration ago or a date, in ms since 1970. */
function instant(text: string): number {
  const ago = secondsOf(text);
  if (ago !== undefined) return Date.now() - ago * 1000;
  const at = /^\d{4}-\d\d-\d\d/.test(text) ? Date.parse(text) : Number.NaN;
  if (Number.isNaN(at) || at < 0)
    throw new InvalidArgumentError('It must be 90min, 12h, 7d, or a date such as 2026-11-21.');
  return at;
}

/** One line per experiment; with the project if there are several projects. */
function listTable(items: readonly Experiment[], width: number | undefined): string {
  const several = new Set(items.map(({ project }) => project)).size > 1;
  const columns = [
    idColumn(items.map(({ id }) => id)),
    { title: 'NAME', minWidth: 24 },
    ...(several ? [{ title: 'PROJECT', drop: 1 }] : []),
    { title: 'STATE' },
    { title: 'STEP', drop: 2 },
    { title: 'SUCCESS' },
    { title: 'VERIFIED', drop: 3 },
    { title: 'WRONG' },
    { title: 'AGE' },
  ];
  return fittedTable(
    columns,
    items.map((one) => row(one, several)),
    width,
  );
}

function row(experiment: Experiment, withProject: boolean): (string | number)[] {
  const { progress, verification } = experiment;
  return [
    experiment.id,
    inert(experiment.name),
    ...(withProject ? [inert(experiment.project)] : []),
    `${coloredState(experiment.state)}${experiment.quarantined ? ' (quarantined)' : ''}`,
    progress.steps > 0 ? `${progress.step}/${progress.steps}` : '-',
    successRate(experiment),
    verification.rowsSeen > 0 ? `${verification.rowsVerified}/${verification.rowsSeen}` : '-',
    verification.wrong,
    duration(Date.now() - experiment.submittedAt),
  ];
}

/** `echelon get ID`: one experiment. */
export function getCommand(output: Output): Command {
  return apiCommand('get')
    .description('Show an experiment: state, progress, verification, and its queue position if it is queued.')
    .argument('<id>', `experiment: ${NAME_FORMS}`)
    .addHelpText('after', examples('echelon get exp-00cz8h3k7n2q4r5s6t7v', 'echelon get @last'))
    .action(async (name: string, options: Options) => {
      const client = await clientFor(options);
      const path = { id: await experimentNamed(client, name) };
      const experiment = await client.get('/v1/experiments/{id}', { path });
      output.line(options.json ? json(experiment) : describe(experiment));
    });
}

function queueFacts({ position, waitReason, estimate, noEstimate }: ExperimentDetail): [string, string][] {
  if (position === null) return [];
  const start =
    estimate === null ? `unknown: ${inert(noEstimate ?? '')}` : `in ${startsIn(estimate, Date.now())}`;
  return [
    ['position', `${position.rank} of ${position.length} in the queue`],
    ['wait reason', inert(waitReason ?? NO_REASON)],
    ['start', start],
  ];
}

function describe(experiment: ExperimentDetail): string {
  const { verification: checked, progress } = experiment;
  const when = (ms: number | null): string => (ms === null ? '-' : new Date(ms).toISOString());
  const facts: [string, string][] = [
    ['id', experiment.id],
    ['name', inert(experiment.name)],
    ['state', `${coloredState(experiment.state)} (${inert(experiment.reason)})`],
    ...queueFacts(experiment),
    ['attempt', `${experiment.attempt}${experiment.cluster ? ` on cluster ${experiment.cluster}` : ''}`],
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
    ['rules', rulesOf(experiment)],
    ...(experiment.rerunOf ? [['rerun of', experiment.rerunOf] as [string, string]] : []),
    ['checkpoint', experiment.checkpoint ? `step ${experiment.checkpoint.step}` : '-'],
  ];
  return facts.map(([name, value]) => `${name.padEnd(13)} ${value}`).join('\n');
}

/** Stage and step. A trainer may report the step as its stage. */
function stageOf({ stage, step, steps }: Experiment['progress']): string {
  const name = inert(stage);
  const progressText = steps === 0 ? '' : `step ${step} of ${steps}`;
  return name === progressText ? name || '-' : [name, progressText].filter(Boolean).join(', ');
}

/** The last time that each rule fired; `echelon rules ID` shows the details. */
function rulesOf({ rules, marks }: Pick<Experiment, 'rules' | 'marks'>): string {
  if (marks === 0) return rules.length === 0 ? 'none' : `${rules.length}, none fired`;
  const fired = rules.flatMap((rule) => rule.fired.slice(-1).map(({ reason }) => inert(reason)));
  return `fired ${marks === 1 ? 'once' : `${marks} times`}: ${fired.join('; ')}`;
}
