import { randomUUID } from 'node:crypto';
import { Command, InvalidArgumentError } from 'commander';
import type { Accepted, ExperimentDetail } from '../../schemas/api.ts';
import type { Experiment } from '../../schemas/experiment.ts';
import type { LogPage } from '../../schemas/streams.ts';
import { type ConnectionOptions, clientFor, withConnection } from '../connection.ts';
import { coloredState, duration, inert, json, type Output, successRate, table } from '../output.ts';
import { readSpecFile } from '../spec-file.ts';
import { watchExperiment } from './watch.ts';

type Options = ConnectionOptions & { json?: boolean };

/** Commands on experiments: submit, ls, get, watch, logs, cancel. */
export function experimentCommands(output: Output): Command[] {
  return [submit(output), list(output), get(output), watch(output), logs(output), cancel(output)];
}

const base = (name: string): Command =>
  withConnection(new Command(name)).option('--json', 'print JSON, for scripts');

function count(text: string): number {
  if (!/^\d{1,6}$/.test(text)) throw new InvalidArgumentError('not a whole number');
  return Number(text);
}

function submit(output: Output): Command {
  return base('submit')
    .description('submit an experiment from a YAML or JSON file (-: standard input)')
    .argument('<file>')
    .option('--key <key>', 'Idempotency-Key: the same key and spec give the same experiment')
    .option('--dry-run', 'show the resolved spec and the exact command line; submit nothing')
    .option('-w, --watch', 'follow it after submitting')
    .addHelpText(
      'after',
      '\nExamples:\n  echelon submit deploy/examples/hgpo.yaml --watch\n  echelon submit --dry-run deploy/examples/hgpo.yaml',
    )
    .action(async (file: string, options: Options & { key?: string; watch?: boolean; dryRun?: boolean }) => {
      const [client, spec] = [await clientFor(options), await readSpecFile(file)];
      if (options.dryRun) {
        const plan = await client.post<{ commandLine: string }>('/v1/plans', spec);
        return output.line(options.json ? json(plan) : plan.commandLine);
      }
      const headers = { 'idempotency-key': options.key ?? randomUUID() };
      const accepted = await client.post<Accepted>('/v1/experiments', spec, headers);
      if (options.watch)
        return watchExperiment({ client, id: accepted.id, output, json: options.json ?? false });
      output.line(options.json ? json(accepted) : accepted.id);
    });
}

function list(output: Output): Command {
  return base('ls')
    .description('list experiments, newest first')
    .option('--state <state>', 'only those in this state')
    .option('--project <project>', 'only those of this project')
    .option('-n, --limit <count>', 'at most so many', count, 20)
    .action(async (options: Options & { state?: string; project?: string; limit: number }) => {
      const client = await clientFor(options);
      const query = { state: options.state, project: options.project, limit: options.limit };
      const page = await client.get<{ items: Experiment[]; next: string | null }>('/v1/experiments', query);
      if (options.json) return output.line(json(page));
      if (page.items.length === 0) return output.line('No experiments. `echelon submit FILE` adds one.');
      output.line(
        table(['ID', 'NAME', 'STATE', 'STEP', 'SUCCESS', 'VERIFIED', 'WRONG', 'AGE'], page.items.map(row)),
      );
      if (page.next) output.remark('There are more; --limit shows them.');
    });
}

function row(experiment: Experiment): (string | number)[] {
  const { progress, verification } = experiment;
  return [
    experiment.id,
    inert(experiment.name).slice(0, 40),
    coloredState(experiment.state),
    progress.steps > 0 ? `${progress.step}/${progress.steps}` : '-',
    successRate(experiment),
    verification.rowsSeen > 0 ? `${verification.rowsVerified}/${verification.rowsSeen}` : '-',
    verification.wrong,
    duration(Date.now() - experiment.submittedAt),
  ];
}

function get(output: Output): Command {
  return base('get')
    .description('show one experiment')
    .argument('<id>')
    .action(async (id: string, options: Options) => {
      const client = await clientFor(options);
      const experiment = await client.get<Experiment>(`/v1/experiments/${encodeURIComponent(id)}`);
      output.line(options.json ? json(experiment) : describe(experiment));
    });
}

function describe(experiment: Experiment): string {
  const { verification: checked, progress } = experiment;
  const when = (ms: number | null): string => (ms === null ? '-' : new Date(ms).toISOString());
  const facts: [string, string][] = [
    ['name', inert(experiment.name)],
    ['state', `${coloredState(experiment.state)} (${inert(experiment.reason)})`],
    ['attempt', `${experiment.attempt}${experiment.cluster ? ` on cluster ${experiment.cluster}` : ''}`],
    ['submitted', when(experiment.submittedAt)],
    ['started', when(experiment.startedAt)],
    ['ended', when(experiment.endedAt)],
    [
      'stage',
      `${inert(progress.stage) || '-'}${progress.steps ? `, step ${progress.step} of ${progress.steps}` : ''}`,
    ],
    ['success', successRate(experiment)],
    ['estimator', experiment.fingerprint ?? '-'],
    ['custom code', experiment.customCode ? 'yes: its overrides load it' : 'none'],
    [
      'verification',
      `${checked.status}: ${checked.rowsVerified} of ${checked.rowsSeen} rows; ${checked.exact} exact, ${checked.rounding} rounding, ${checked.wrong} wrong, ${checked.unverifiable} unverifiable; ${checked.errors} error findings`,
    ],
    ['rules', rulesOf(experiment)],
    ['checkpoint', experiment.checkpoint ? `step ${experiment.checkpoint.step}` : '-'],
  ];
  return facts.map(([name, value]) => `${name.padEnd(13)} ${value}`).join('\n');
}

/** The last time that each rule fired; `echelon rules ID` shows all of it. */
function rulesOf({ rules, marks }: Pick<Experiment, 'rules' | 'marks'>): string {
  if (marks === 0) return rules.length === 0 ? 'none' : `${rules.length}, none of them fired`;
  const fired = rules.flatMap((rule) => rule.fired.slice(-1).map(({ reason }) => inert(reason)));
  return `fired ${marks === 1 ? 'once' : `${marks} times`}: ${fired.join('; ')}`;
}

function watch(output: Output): Command {
  return base('watch')
    .description(
      'follow an experiment live until it has ended; exit status 1 where it failed or a row is wrong',
    )
    .argument('<id>')
    .option('--after <event>', 'resume behind this event id')
    .action(async (id: string, options: Options & { after?: string }) => {
      const client = await clientFor(options);
      await watchExperiment({ client, id, output, json: options.json ?? false, after: options.after });
    });
}

function logs(output: Output): Command {
  return base('logs')
    .description('print what the driver wrote')
    .argument('<id>')
    .option('-n, --tail <lines>', 'only the last lines', count)
    .option('-f, --follow', 'go on until the experiment has ended')
    .action(async (id: string, options: Options & { tail?: number; follow?: boolean }) => {
      const client = await clientFor(options);
      const path = `/v1/experiments/${encodeURIComponent(id)}`;
      const page = await client.get<LogPage>(`${path}/logs`, { tail: options.tail });
      for (const line of page.lines) output.line(options.json ? JSON.stringify(line) : inert(line.text));
      if (!options.follow) return;
      for await (const { at, event } of client.events(id, {
        after: page.after ?? undefined,
        signal: new AbortController().signal,
      })) {
        if (event.type !== 'log') continue;
        for (const text of event.lines)
          output.line(options.json ? JSON.stringify({ at, source: event.source, text }) : inert(text));
      }
    });
}

function cancel(output: Output): Command {
  return base('cancel')
    .description('cancel an experiment: its processes are ended and its GPUs freed within the grace period')
    .argument('<id>')
    .action(async (id: string, options: Options) => {
      const client = await clientFor(options);
      const path = `/v1/experiments/${encodeURIComponent(id)}/cancel`;
      const experiment = await client.post<ExperimentDetail>(path, undefined);
      output.line(options.json ? json(experiment) : `${experiment.id} ${experiment.state}`);
    });
}
