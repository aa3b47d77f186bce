import { randomUUID } from 'node:crypto';
import { type Command, InvalidArgumentError } from 'commander';
import type { Accepted, ExperimentDetail } from '../../schemas/api.ts';
import type { Experiment } from '../../schemas/experiment.ts';
import { secondsOf, wholeNumber } from '../arguments.ts';
import type { Client } from '../client.ts';
import { apiCommand, type ConnectionOptions, clientFor } from '../connection.ts';
import { experimentNamed, NAMES_IT, sweepNamed } from '../names.ts';
import { coloredState, duration, inert, json, type Output, successRate } from '../output.ts';
import { resolvedYaml } from '../resolved-spec.ts';
import { changedSpec, type SpecChanges, withSpecChanges } from '../spec-changes.ts';
import { readSpecFile, requireKind } from '../spec-file.ts';
import { fittedTable, idColumn, widthFor, withWide } from '../table.ts';
import { logsCommand } from './logs.ts';
import { startsIn } from './queue.ts';
import { watchCommand, watchExperiment } from './watch.ts';

type Options = ConnectionOptions & { json?: boolean };

/** What of a plan is shown. */
interface Plan {
  resolved: object;
  defaults: string[];
  commandLine: string;
  checks: { severity: string; message: string; remedy: string }[];
}

/** Commands on experiments: submit, ls, get, watch, logs. */
export function experimentCommands(output: Output): Command[] {
  return [submit(output), list(output), get(output), watchCommand(output), logsCommand(output)];
}

function submit(output: Output): Command {
  return withSpecChanges(apiCommand('submit'))
    .description('submit an experiment from a YAML or JSON file (-: standard input)')
    .argument('<file>', 'the spec; -: standard input')
    .option('--key <key>', 'Idempotency-Key: the same key and spec give the same experiment')
    .option('--dry-run', 'show the spec with its defaults and the exact command line; submit nothing')
    .option('-w, --watch', 'follow it after submitting')
    .addHelpText(
      'after',
      '\nExamples:\n  echelon submit deploy/examples/hgpo.yaml --watch\n  echelon submit --dry-run deploy/examples/hgpo.yaml\n  echelon submit deploy/examples/hgpo.yaml --set training.seed=2 --name "seed 2"',
    )
    .action(async (file: string, options: SubmitOptions) => {
      const [client, given] = [await clientFor(options), await readSpecFile(file)];
      requireKind(file, given, 'experiment');
      const spec = changedSpec(given, options);
      if (options.dryRun) {
        const plan = await client.post<Plan>('/v1/plans', spec);
        for (const { severity, message, remedy } of plan.checks)
          output.remark(`${severity}: ${message} ${remedy}`);
        if (options.json) return output.line(json(plan));
        output.line(inert(`${resolvedYaml(plan.resolved, plan.defaults)}\n\n${plan.commandLine}`));
        return;
      }
      const headers = { 'idempotency-key': options.key ?? randomUUID() };
      const accepted = await client.post<Accepted>('/v1/experiments', spec, headers);
      if (options.watch)
        return watchExperiment({ client, id: accepted.id, output, json: options.json ?? false });
      output.line(options.json ? json(accepted) : accepted.id);
    });
}

interface SubmitOptions extends Options, SpecChanges {
  key?: string;
  watch?: boolean;
  dryRun?: boolean;
}

function list(output: Output): Command {
  return withWide(apiCommand('ls'))
    .description('list experiments, newest first')
    .option('--state <states>', 'only those in one of these states, separated by commas')
    .option('--project <project>', 'only those of this project')
    .option('--sweep <sweep>', `only the children of this sweep: ${NAMES_IT}`)
    .option('--name <name>', 'only those whose name begins so')
    .option('--since <time>', 'submitted since: 90min, 12h, 7d, or a date', instant)
    .option('--until <time>', 'submitted before, said in the same way', instant)
    .option('-n, --limit <count>', 'at most so many', wholeNumber(1, 100_000), 20)
    .addHelpText(
      'after',
      '\nExamples:\n  echelon ls --state running,queued\n  echelon ls --name "hgpo K=4" --since 7d --json',
    )
    .action(async (options: ListOptions) => {
      const client = await clientFor(options);
      const sweep = options.sweep && (await sweepNamed(client, options.sweep));
      const page = await listed(client, { ...options, ...(sweep && { sweep }) });
      if (options.json) return output.line(json(page));
      if (page.items.length === 0) return output.line(nothingListed(options));
      output.line(listTable(page.items, widthFor(output, options)));
      if (page.next) output.remark('There are more; --limit shows them.');
    });
}

interface ListOptions extends Options {
  output?: string;
  state?: string;
  project?: string;
  sweep?: string;
  name?: string;
  since?: number;
  until?: number;
  limit: number;
}

interface Listed {
  items: Experiment[];
  next: string | null;
}

/** As many as are wanted; a page of the API may hold fewer. */
async function listed(client: Client, options: ListOptions): Promise<Listed> {
  const { state, project, sweep, name, since: submittedFrom, until: submittedBefore } = options;
  const query = { state, project, sweep, name, submittedFrom, submittedBefore };
  const items: Experiment[] = [];
  let cursor: string | undefined;
  for (;;) {
    const limit = Math.min(200, options.limit - items.length);
    const page = await client.get<Listed>('/v1/experiments', { ...query, limit, cursor });
    items.push(...page.items);
    if (page.next === null || items.length >= options.limit) return { items, next: page.next };
    cursor = page.next;
  }
}

function nothingListed({ state, project, sweep, name, since, until }: ListOptions): string {
  const filtered = [state, project, sweep, name, since, until].some((value) => value !== undefined);
  return filtered ? 'No experiments fit that.' : 'No experiments. `echelon submit FILE` adds one.';
}

/** A time that is said as so long ago, or as a date, in ms since 1970. */
function instant(text: string): number {
  const ago = secondsOf(text);
  if (ago !== undefined) return Date.now() - ago * 1000;
  const at = /^\d{4}-\d\d-\d\d/.test(text) ? Date.parse(text) : Number.NaN;
  if (Number.isNaN(at) || at < 0)
    throw new InvalidArgumentError('90min, 12h, 7d, or a date such as 2026-11-21');
  return at;
}

/** A row for each; with its project, where they are of several. */
export function listTable(items: readonly Experiment[], width: number | undefined): string {
  const several = new Set(items.map(({ project }) => project)).size > 1;
  const columns = [
    idColumn(items.map(({ id }) => id)),
    { title: 'NAME', least: 24 },
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

function get(output: Output): Command {
  return apiCommand('get')
    .description('show one experiment')
    .argument('<id>', NAMES_IT)
    .addHelpText('after', '\nExamples:\n  echelon get exp-00cz8h3k7n2q4r5s6t7v\n  echelon get @last')
    .action(async (name: string, options: Options) => {
      const client = await clientFor(options);
      const id = await experimentNamed(client, name);
      const experiment = await client.get<ExperimentDetail>(`/v1/experiments/${encodeURIComponent(id)}`);
      output.line(options.json ? json(experiment) : describe(experiment));
    });
}

/** Of one that waits: its place, why, and when it is expected to start. */
function waitingFacts({ position, waitReason, estimate, noEstimate }: ExperimentDetail): [string, string][] {
  if (position === null) return [];
  const starts =
    estimate === null ? `not known: ${inert(noEstimate ?? '')}` : `in ${startsIn(estimate, Date.now())}`;
  return [
    ['place', `${position.rank} of ${position.length}`],
    ['waits', inert(waitReason ?? 'not looked at yet')],
    ['starts', starts],
  ];
}

function describe(experiment: ExperimentDetail): string {
  const { verification: checked, progress } = experiment;
  const when = (ms: number | null): string => (ms === null ? '-' : new Date(ms).toISOString());
  const facts: [string, string][] = [
    ['id', experiment.id],
    ['name', inert(experiment.name)],
    ['state', `${coloredState(experiment.state)} (${inert(experiment.reason)})`],
    ...waitingFacts(experiment),
    ['attempt', `${experiment.attempt}${experiment.cluster ? ` on cluster ${experiment.cluster}` : ''}`],
    ['submitted', when(experiment.submittedAt)],
    ['started', when(experiment.startedAt)],
    ['ended', when(experiment.endedAt)],
    ['stage', stageOf(progress)],
    ['success', successRate(experiment)],
    ['estimator', experiment.fingerprint ?? '-'],
    ['custom code', experiment.customCode ? 'yes: its overrides load it' : 'none'],
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

/** What it does and how far it has come; a trainer's stage may say both by itself. */
function stageOf({ stage, step, steps }: Experiment['progress']): string {
  const name = inert(stage);
  const far = steps === 0 ? '' : `step ${step} of ${steps}`;
  return name === far ? name || '-' : [name, far].filter(Boolean).join(', ');
}

/** The last time that each rule fired; `echelon rules ID` shows all of it. */
function rulesOf({ rules, marks }: Pick<Experiment, 'rules' | 'marks'>): string {
  if (marks === 0) return rules.length === 0 ? 'none' : `${rules.length}, none of them fired`;
  const fired = rules.flatMap((rule) => rule.fired.slice(-1).map(({ reason }) => inert(reason)));
  return `fired ${marks === 1 ? 'once' : `${marks} times`}: ${fired.join('; ')}`;
}
