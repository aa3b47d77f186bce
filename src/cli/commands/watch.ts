import { setTimeout as delay } from 'node:timers/promises';
import { styleText } from 'node:util';
import { examples } from 'command-kit/examples';
import { CliError, EXIT } from 'command-kit/exit';
import { inert } from 'command-kit/inert';
import { jsonLine, type Output } from 'command-kit/output';
import { plural } from 'command-kit/plural';
import { shortened } from 'command-kit/width';
import { Command, Option } from 'commander';
import type { Experiment, ExperimentEvent } from 'echelon-client/calls';
import { isWrong } from 'echelon-verify/report';
import type { FeedEntry } from '../../core/events.ts';
import type { Client } from '../client.ts';
import { type ApiOptions, clientFor, withConnection } from '../connection.ts';
import { interruptible } from '../lifetime.ts';
import { NAME_FORMS, named } from '../names.ts';
import { coloredState, NO_REASON, startsIn } from '../states.ts';
import { wrongSignalOf } from '../wrong-signal.ts';
import { watchSweep } from './sweep-watch.ts';
import { watchLive } from './watch-live.ts';

/** Time between two polls of the wait reason. */
const POLL_MS = 5_000;

interface Options extends ApiOptions {
  after?: string;
  project?: string;
}

/** `echelon watch`: follows an experiment or a sweep until it has ended, or the events of a project. */
function watchCommand(output: Output): Command {
  return withConnection(new Command('watch'))
    .description(
      'Follow an experiment or a sweep live until it has ended. The exit status is 1 if it failed or its training signal is wrong. Without an id, follow the events of a project, or of all projects, until Ctrl-C. Times are UTC.',
    )
    .argument('[id]', `experiment or sweep: ${NAME_FORMS}`)
    .addOption(new Option('--project <project>', 'without an id: only this project'))
    .option('--after <event>', 'start after this event id')
    .option('--json', 'print one JSON object per event')
    .addHelpText(
      'after',
      examples(
        'echelon watch exp-00cz8h3k7n2q4r5s6t7v',
        'echelon watch @last',
        'echelon watch --project default --json',
      ),
    )
    .action(async (name: string | undefined, options: Options) => {
      const client = await clientFor(options);
      const [json, after] = [options.json ?? false, options.after];
      if (name !== undefined) {
        const { kind, id } = await named(client, name, ['experiment', 'sweep']);
        if (kind === 'sweep') return await watchSweep({ client, id, output, json });
        return await watchExperiment({ client, id, output, json, after });
      }
      const { signal } = new AbortController();
      await watchFeed({ client, project: options.project, output, json, after, signal });
    });
}

/**
 * Prints one line per event of a project, or of all projects, until `signal` aborts. If missed events have expired, a
 * message says so, and the feed continues from now.
 */
export async function watchFeed(options: {
  client: Client;
  project: string | undefined;
  output: Output;
  json: boolean;
  after?: string | undefined;
  signal: AbortSignal;
}): Promise<void> {
  const { client, output, signal } = options;
  let { project, after } = options;
  const caller = await client.get('/v1/caller');
  if (project === undefined && caller.project !== null) {
    project = caller.project;
    if (!options.json) output.remark(`Your key sees only the project ${project}.`);
  }
  if (!options.json)
    output.remark(
      `Following events of ${project ?? 'all projects'} ${after === undefined ? 'from now on' : `after ${after}`}. Stop with Ctrl-C.`,
    );
  for (;;) {
    try {
      for await (const entry of client.feed(project, { after, signal })) {
        output.line(options.json ? jsonLine(entry) : feedLine(entry, project === undefined));
      }
      return;
    } catch (error) {
      if (!(error instanceof CliError) || error.code !== 'history-trimmed') throw error;
      output.remark(`Missed events: ${error.message}`);
      after = undefined;
    }
  }
}

function feedLine(entry: FeedEntry, withProject: boolean): string {
  const { event, at } = entry;
  const place = withProject ? `${entry.project}  ` : '';
  const what =
    event.type === 'sweep'
      ? sweepLine(event)
      : event.type === 'cluster'
        ? `silent since ${new Date(event.since).toISOString()}`
        : describe(event);
  const id = entry.experiment ?? entry.sweep ?? '';
  return `${new Date(at).toISOString().slice(11, 19)}  ${place}${id}  ${shortened(inert(entry.name), 40)}  ${what}`;
}

function sweepLine({ state, counts }: Extract<FeedEntry['event'], { type: 'sweep' }>): string {
  const parts = Object.entries(counts).filter(([, count]) => count > 0);
  return `sweep ${state}: ${parts.map(([name, count]) => `${count} ${name}`).join(', ')}`;
}

/**
 * Prints the events of an experiment, or shows its progress in a block of the terminal, until it has ended and its batches are
 * verified. Throws a {@link CliError} (exit status 1) if it did not succeed or a batch was not ok.
 */
export async function watchExperiment(options: {
  client: Client;
  id: string;
  output: Output;
  json: boolean;
  after?: string | undefined;
  /** Prints one line per event, on a terminal too. */
  pollMs?: number;
}): Promise<void> {
  const { client, id, output } = options;
  const stop = new AbortController();
  // An unknown id is refused before anything is announced.
  await client.get('/v1/experiments/{id}', { path: { id } });
  if (!options.json) output.remark(`Following ${id}. Ctrl-C stops following, not the experiment.`);
  const isLive = !options.json && options.after === undefined;
  const block = isLive ? output.block?.() : undefined;
  await interruptible(options, async () => {
    try {
      if (block) await watchLive({ client, id, output, block });
      else await printEvents(options, stop.signal);
    } finally {
      stop.abort();
    }
    await judge(options);
  });
}

/** While the experiment is queued: prints its position, wait reason and estimated start whenever one changes. */
async function printQueueState(options: {
  client: Client;
  id: string;
  output: Output;
  pollMs?: number;
  signal: AbortSignal;
}): Promise<void> {
  const { client, id, output, pollMs = POLL_MS, signal } = options;
  let printed = '';
  while (!signal.aborted) {
    // If this request fails, the event stream fails too and reports why.
    const experiment = await client.get('/v1/experiments/{id}', { path: { id } }).catch(() => undefined);
    if (experiment === undefined || experiment.state !== 'queued' || signal.aborted) return;
    const { position, waitReason, estimate } = experiment;
    const why = `position ${position?.rank} of ${position?.length}: ${inert(waitReason ?? NO_REASON)}`;
    if (position !== null && waitReason !== null && why !== printed) {
      const start = estimate === null ? '' : `; starts in ${startsIn(estimate, client.now())}`;
      output.remark(`          queued at ${why}${start}`);
      printed = why;
    }
    await delay(pollMs, undefined, { signal }).catch(() => undefined);
  }
}

async function printEvents(
  options: Parameters<typeof watchExperiment>[0],
  signal: AbortSignal,
): Promise<void> {
  const { client, id, output } = options;
  for await (const received of client.events(id, { after: options.after, signal })) {
    if (options.json) {
      output.line(jsonLine(received));
      continue;
    }
    const text = describe(received.event);
    if (text) output.line(`${new Date(received.at).toISOString().slice(11, 19)}  ${text}`);
    const { event } = received;
    if (event.type === 'state' && event.to === 'queued') void printQueueState({ ...options, signal });
  }
}

/** Prints the result; throws if it is negative. */
async function judge(options: Parameters<typeof watchExperiment>[0]): Promise<void> {
  const { client, id, output } = options;
  const experiment = await client.get('/v1/experiments/{id}', { path: { id } });
  const { verification } = experiment;
  if (!options.json) output.remark(verifiedInWords(id, verification));
  if (experiment.state !== 'succeeded')
    throw new CliError(EXIT.notOk, `${id} ${experiment.state}: ${experiment.reason}`);
  const { signal, wrong, errors, unverifiable } = verification;
  const see = `See \`echelon batches ${id} --not-ok\`.`;
  if (signal === 'wrong') {
    const counts = `${plural(wrong, 'wrong row')}, ${plural(errors, 'error finding')}`;
    const why = await wrongSignalOf(client, experiment).catch(() => counts);
    throw new CliError(EXIT.notOk, `${id}: wrong training signal: ${why}. ${see}`);
  }
  // Without an error finding, the batches have nothing to verify.
  if (signal === 'unverified' && errors > 0)
    throw new CliError(EXIT.notOk, `${id}: ${plural(unverifiable, 'row')} could not be verified. ${see}`);
}

function verifiedInWords(id: string, { rowsSeen, rowsVerified, wrong }: Experiment['verification']): string {
  return `${rowsVerified} of ${rowsSeen} rows verified, ${wrong} wrong. See \`echelon get ${id}\`.`;
}

function verificationInWords(event: Extract<ExperimentEvent, { type: 'verification' }>): string {
  const { rows, wrong, unverifiable, errors } = event;
  const found = errors.length > 0 ? ` (${errors.join(', ')})` : '';
  if (event.ok)
    return `${rows} rows ${styleText('green', 'ok')}${event.rounding ? `, ${event.rounding} by rounding` : ''}`;
  if (isWrong(event)) return styleText('red', `NOT ok: ${wrong} of ${rows} rows wrong${found}`);
  return `${unverifiable} of ${rows} rows unverifiable${found}`;
}

/** One line for the user; undefined for an event that is not shown. */
function describe(event: ExperimentEvent): string | undefined {
  switch (event.type) {
    case 'state':
      return `${coloredState(event.to)}: ${inert(event.reason)}`;
    case 'started':
      return `driver started, process ${event.pid}`;
    case 'stage':
      // The metrics of a step show that it is done.
      if (event.name.startsWith('step ')) return undefined;
      return event.steps > 0 ? `${inert(event.name)} (${event.step} of ${event.steps})` : inert(event.name);
    case 'metrics':
      return metrics(event.step, event.values);
    case 'verification':
      return `batch of step ${event.step}: ${verificationInWords(event)}`;
    case 'rule':
      return styleText('yellow', `${event.do === 'mark' ? 'marked' : event.do}: ${inert(event.reason)}`);
    case 'preemption':
      return styleText('yellow', `${event.until === null ? 'stays' : 'preempted'}: ${inert(event.reason)}`);
    case 'checkpoint':
      return `checkpoint of step ${event.step}`;
    case 'stored':
      return `checkpoint of step ${event.step} is in the object store`;
    case 'evaluation':
      return `evaluation of step ${event.step}: ${plural(event.games.length, 'game')}`;
    case 'gap':
      return styleText(
        'yellow',
        `dropped on the cluster: ${event.count} ${event.kind} (${inert(event.reason)})`,
      );
    case 'ended':
      return `driver ended: ${event.cause}${event.message ? `, ${inert(event.message)}` : ''}`;
    case 'log':
    case 'batch':
      return undefined;
  }
}

const SHOWN = ['episode/success_rate', 'val/success_rate', 'actor/ppo_kl', 'actor/grad_norm'];

function metrics(step: number, values: Record<string, number | string>): string | undefined {
  const parts = SHOWN.filter((name) => name in values).map((name) => {
    const value = values[name]!;
    return `${name} ${typeof value === 'number' ? value.toPrecision(3) : value}`;
  });
  return parts.length > 0 ? `step ${step}: ${parts.join('  ')}` : undefined;
}

/** The commands of this module by their names. */
export const commands = { watch: watchCommand };
