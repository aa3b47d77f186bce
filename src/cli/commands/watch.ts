import pc from 'picocolors';
import type { ExperimentEvent } from '../../core/events.ts';
import type { Experiment } from '../../schemas/experiment.ts';
import type { Client } from '../client.ts';
import { CliError, EXIT } from '../exit.ts';
import { coloredState, inert, type Output } from '../output.ts';

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
  if (experiment.state !== 'succeeded')
    throw new CliError(EXIT.notOk, `${id} ${experiment.state}: ${experiment.reason}`);
  if (verification.wrong > 0 || verification.errors > 0) {
    throw new CliError(
      EXIT.notOk,
      `${id}: the training signal was not right (${verification.wrong} wrong rows, ${verification.errors} error findings); \`echelon get ${id}\` says more`,
    );
  }
}

/** One line for people; undefined for what would only be noise. */
function describe(event: ExperimentEvent): string | undefined {
  switch (event.type) {
    case 'state':
      return `${coloredState(event.to)}: ${inert(event.reason)}`;
    case 'started':
      return `driver started, process ${event.pid}`;
    case 'stage':
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
