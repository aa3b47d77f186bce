import { setTimeout as delay } from 'node:timers/promises';
import { Command, Option } from 'commander';
import pc from 'picocolors';
import type { ExperimentEvent, FeedEntry } from '../../core/events.ts';
import type { ExperimentDetail } from '../../schemas/api.ts';
import type { Experiment } from '../../schemas/experiment.ts';
import type { Client } from '../client.ts';
import { type ConnectionOptions, clientFor, withConnection } from '../connection.ts';
import { CliError, EXIT } from '../exit.ts';
import { interruptible } from '../interruptible.ts';
import { NAMES_IT, named } from '../names.ts';
import { coloredState, inert, jsonLine, type Output } from '../output.ts';
import { shortened } from '../shortened.ts';
import { startsIn } from './queue.ts';
import { watchSweep } from './sweep-watch.ts';
import { watchLive } from './watch-live.ts';

/** Time between two looks at why an experiment waits. */
const LOOK_MS = 5_000;

interface Options extends ConnectionOptions {
  json?: boolean;
  after?: string;
  project?: string;
  verbose?: boolean;
}

/** `echelon watch`: an experiment or a sweep until it has ended, or what happens in a project. */
export function watchCommand(output: Output): Command {
  return withConnection(new Command('watch'))
    .summary('follow an experiment or a sweep live, or a project')
    .description(
      'follow an experiment live until it has ended; exit status 1 where it failed or a row is wrong; a sweep: until every child has ended. Without an id: what happens in a project, or in all of them, until it is interrupted. Times are UTC',
    )
    .argument('[id]', `of an experiment or a sweep: ${NAMES_IT}`)
    .addOption(new Option('--project <project>', 'without an id: only what happens in this project'))
    .option('--after <event>', 'resume behind this event id')
    .option('-v, --verbose', 'print a line for each event, on a terminal too')
    .option('--json', 'print a JSON object for each event')
    .addHelpText(
      'after',
      '\nExamples:\n  echelon watch exp-00cz8h3k7n2q4r5s6t7v\n  echelon watch @last\n  echelon watch --project default --json',
    )
    .action(async (name: string | undefined, options: Options) => {
      const client = await clientFor(options);
      const [json, after] = [options.json ?? false, options.after];
      if (name !== undefined) {
        const { kind, id } = await named(client, name, ['experiment', 'sweep']);
        if (kind === 'sweep') return await watchSweep({ client, id, output, json });
        const { verbose } = options;
        return await watchExperiment({ client, id, output, json, after, verbose });
      }
      const { signal } = new AbortController();
      await watchFeed({ client, project: options.project, output, json, after, signal });
    });
}

/**
 * Prints what happens in a project, or in all of them, a line an event, until `signal` aborts. Where events were missed
 * that are not kept any more, it says so and goes on from now.
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
  const caller = await client.get<{ project: string | null }>('/v1/caller');
  if (project === undefined && caller.project !== null) {
    project = caller.project;
    if (!options.json) output.remark(`Your key sees the project ${project} alone.`);
  }
  if (!options.json)
    output.remark(
      `What happens in ${project ?? 'all projects'} ${after === undefined ? 'from now on' : `behind ${after}`}; Ctrl-C ends it.`,
    );
  for (;;) {
    try {
      for await (const entry of client.feed(project, { after, signal })) {
        output.line(options.json ? jsonLine(entry) : feedLine(entry, project === undefined));
      }
      return;
    } catch (error) {
      if (!(error instanceof CliError) || error.code !== 'history-trimmed') throw error;
      output.remark(`Events were missed: ${error.message}`);
      after = undefined;
    }
  }
}

function feedLine(entry: FeedEntry, withProject: boolean): string {
  const { event, at } = entry;
  const place = withProject ? `${entry.project}  ` : '';
  const what = event.type === 'sweep' ? sweepLine(event) : describe(event);
  const id = entry.experiment ?? entry.sweep ?? '';
  return `${new Date(at).toISOString().slice(11, 19)}  ${place}${id}  ${shortened(inert(entry.name), 40)}  ${what}`;
}

function sweepLine({ state, counts }: Extract<FeedEntry['event'], { type: 'sweep' }>): string {
  const parts = Object.entries(counts).filter(([, count]) => count > 0);
  return `sweep ${state}: ${parts.map(([name, count]) => `${count} ${name}`).join(', ')}`;
}

/**
 * Prints an experiment's events as they arise, or shows where it stands in a block of the terminal, until it has ended and its batches are verified. Throws
 * {@link CliError} (exit status 1) where it did not succeed or a batch was not ok.
 */
export async function watchExperiment(options: {
  client: Client;
  id: string;
  output: Output;
  json: boolean;
  after?: string | undefined;
  /** A line for each event, on a terminal too. */
  verbose?: boolean | undefined;
  lookMs?: number;
}): Promise<void> {
  const { client, id, output } = options;
  const stop = new AbortController();
  // What cannot be followed is refused before it is announced.
  await client.get<Experiment>(pathOf(id));
  if (!options.json) output.remark(`Following ${id}; Ctrl-C ends this, not the experiment.`);
  const isLive = !options.json && !options.verbose && options.after === undefined;
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

/** While it waits: its place, the reason and the expected start, whenever place or reason change. */
async function tellWhyItWaits(options: {
  client: Client;
  id: string;
  output: Output;
  lookMs?: number;
  signal: AbortSignal;
}): Promise<void> {
  const { client, id, output, lookMs = LOOK_MS, signal } = options;
  let said = '';
  while (!signal.aborted) {
    // Where it cannot be asked, the stream of its events says why.
    const experiment = await client.get<ExperimentDetail>(pathOf(id)).catch(() => undefined);
    if (experiment === undefined || experiment.state !== 'queued' || signal.aborted) return;
    const { position, waitReason, estimate } = experiment;
    const why = `place ${position?.rank} of ${position?.length}: ${inert(waitReason ?? '')}`;
    if (position !== null && waitReason !== null && why !== said) {
      const start = estimate === null ? '' : `; starts in ${startsIn(estimate, Date.now())}`;
      output.remark(`          waits at ${why}${start}`);
      said = why;
    }
    await delay(lookMs, undefined, { signal }).catch(() => undefined);
  }
}

const pathOf = (id: string): string => `/v1/experiments/${encodeURIComponent(id)}`;

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
    if (event.type === 'state' && event.to === 'queued') void tellWhyItWaits({ ...options, signal });
  }
}

/** Says what came of it; throws where that is not well. */
async function judge(options: Parameters<typeof watchExperiment>[0]): Promise<void> {
  const { client, id, output } = options;
  const experiment = await client.get<Experiment>(pathOf(id));
  const { verification } = experiment;
  if (!options.json) output.remark(checkedInWords(id, verification));
  if (experiment.state !== 'succeeded')
    throw new CliError(EXIT.notOk, `${id} ${experiment.state}: ${experiment.reason}`);
  if (verification.wrong > 0 || verification.errors > 0) {
    throw new CliError(
      EXIT.notOk,
      `${id}: the training signal was not right (${verification.wrong} wrong rows, ${verification.errors} error findings); \`echelon batches ${id} --not-ok\` says more`,
    );
  }
}

function checkedInWords(id: string, { rowsSeen, rowsVerified, wrong }: Experiment['verification']): string {
  return `${rowsVerified} of ${rowsSeen} rows verified, ${wrong} wrong; \`echelon get ${id}\` says more.`;
}

/** One line for people; undefined for what would only be noise. */
function describe(event: ExperimentEvent): string | undefined {
  switch (event.type) {
    case 'state':
      return `${coloredState(event.to)}: ${inert(event.reason)}`;
    case 'started':
      return `driver started, process ${event.pid}`;
    case 'stage':
      // Its metrics say that a step is done.
      if (event.name.startsWith('step ')) return undefined;
      return event.steps > 0 ? `${inert(event.name)} (${event.step} of ${event.steps})` : inert(event.name);
    case 'metrics':
      return metrics(event.step, event.values);
    case 'verification':
      return event.ok
        ? `batch of step ${event.step}: ${event.rows} rows ${pc.green('ok')}${event.rounding ? `, ${event.rounding} by rounding` : ''}`
        : pc.red(
            `batch of step ${event.step}: NOT ok: ${event.wrong} of ${event.rows} rows wrong${event.errors.length > 0 ? ` (${event.errors.join(', ')})` : ''}`,
          );
    case 'rule':
      return pc.yellow(`${event.do === 'mark' ? 'marked' : event.do}: ${inert(event.reason)}`);
    case 'checkpoint':
      return `checkpoint of step ${event.step}`;
    case 'gap':
      return pc.yellow(`dropped at its source: ${event.count} ${event.kind} (${inert(event.reason)})`);
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
