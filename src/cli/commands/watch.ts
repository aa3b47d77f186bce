import { Command, Option } from 'commander';
import pc from 'picocolors';
import type { ExperimentEvent, FeedEntry } from '../../core/events.ts';
import type { Experiment } from '../../schemas/experiment.ts';
import type { Client } from '../client.ts';
import { type ConnectionOptions, clientFor, withConnection } from '../connection.ts';
import { CliError, EXIT } from '../exit.ts';
import { coloredState, inert, type Output } from '../output.ts';

interface Options extends ConnectionOptions {
  json?: boolean;
  after?: string;
  project?: string;
}

/** `echelon watch`: an experiment until it has ended, or what happens in a project. */
export function watchCommand(output: Output): Command {
  return withConnection(new Command('watch'))
    .summary('follow an experiment live, or what happens in a project')
    .description(
      'follow an experiment live until it has ended; exit status 1 where it failed or a row is wrong. Without an id: what happens in a project, or in all of them, until it is interrupted',
    )
    .argument('[id]')
    .addOption(new Option('--project <project>', 'without an id: only what happens in this project'))
    .option('--after <event>', 'resume behind this event id')
    .option('--json', 'print a JSON object for each event')
    .addHelpText('after', '\nExample:\n  echelon watch exp-…\n  echelon watch --project default --json')
    .action(async (id: string | undefined, options: Options) => {
      const client = await clientFor(options);
      const [json, after] = [options.json ?? false, options.after];
      if (id !== undefined) return await watchExperiment({ client, id, output, json, after });
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
  const { client, project, output, signal } = options;
  let { after } = options;
  if (!options.json)
    output.remark(
      `What happens in ${project ?? 'all projects'} ${after === undefined ? 'from now on' : `behind ${after}`}; Ctrl-C ends it.`,
    );
  for (;;) {
    try {
      for await (const entry of client.feed(project, { after, signal })) {
        output.line(options.json ? JSON.stringify(entry) : feedLine(entry, project === undefined));
      }
      return;
    } catch (error) {
      if (!(error instanceof CliError)) throw error;
      if (error.code === 'forbidden' && project === undefined)
        throw new CliError(
          error.exitCode,
          `${error.message} Name it: echelon watch --project NAME`,
          error.code,
        );
      if (error.code !== 'history-trimmed') throw error;
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
  return `${new Date(at).toISOString().slice(11, 19)}  ${place}${id}  ${inert(entry.name).slice(0, 40)}  ${what}`;
}

function sweepLine({ state, counts }: Extract<FeedEntry['event'], { type: 'sweep' }>): string {
  const parts = Object.entries(counts).filter(([, count]) => count > 0);
  return `sweep ${state}: ${parts.map(([name, count]) => `${count} ${name}`).join(', ')}`;
}

/**
 * Prints an experiment's events as they arise, until it has ended and its batches are verified. Throws
 * {@link CliError} (exit status 1) where it did not succeed or a batch was not ok.
 */
export async function watchExperiment(options: {
  client: Client;
  id: string;
  output: Output;
  json: boolean;
  after?: string | undefined;
}): Promise<void> {
  const { client, id, output } = options;
  if (!options.json) output.remark(`Following ${id}; Ctrl-C ends the following, not the experiment.`);
  const stop = new AbortController();
  for await (const received of client.events(id, { after: options.after, signal: stop.signal })) {
    if (options.json) {
      output.line(JSON.stringify(received));
      continue;
    }
    const text = describe(received.event);
    if (text) output.line(`${new Date(received.at).toISOString().slice(11, 19)}  ${text}`);
  }
  const experiment = await client.get<Experiment>(`/v1/experiments/${encodeURIComponent(id)}`);
  const { verification } = experiment;
  if (!options.json) output.remark(checkedInWords(id, verification));
  if (experiment.state !== 'succeeded')
    throw new CliError(EXIT.notOk, `${id} ${experiment.state}: ${experiment.reason}`);
  if (verification.wrong > 0 || verification.errors > 0) {
    throw new CliError(
      EXIT.notOk,
      `${id}: the training signal was not right (${verification.wrong} wrong rows, ${verification.errors} error findings); \`echelon get ${id}\` says more`,
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
            `batch of step ${event.step}: NOT ok: ${event.wrong} of ${event.rows} rows wrong ${event.errors.join(', ')}`,
          );
    case 'rule':
      return pc.yellow(`${event.do === 'mark' ? 'marked' : event.do}: ${inert(event.reason)}`);
    case 'checkpoint':
      return `checkpoint of step ${event.step}`;
    case 'gap':
      return pc.yellow(`dropped at its source: ${event.count} ${event.what} (${inert(event.reason)})`);
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
