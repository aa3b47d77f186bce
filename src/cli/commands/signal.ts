import { existsSync } from 'node:fs';
import { json, type Output } from 'command-kit/output';
import { table } from 'command-kit/table';
import type { Command } from 'commander';
import type { SignalPage } from 'echelon-client/calls';
import type { TextStreams } from 'echelon-verify/cli';
import { fileCommands, signalFile } from 'echelon-verify/cli';
import { readPages } from '../client.ts';
import { type ApiOptions, clientFor, withConnection } from '../connection.ts';
import { experimentNamed, NAME_FORMS } from '../names.ts';

/** Points of a figure that a table shows: with more, evenly chosen ones. */
const MAX_POINTS = 12;

/** `echelon signal`: of a file with batches, or of an experiment over its steps. */
export function signalCommand(streams: TextStreams, output: Output): Command {
  const command = fileCommands(streams).find((one) => one.name() === 'signal')!;
  command.registeredArguments[0]!.description = `file with recorded batches, or experiment: ${NAME_FORMS}`;
  return withConnection(command)
    .description(
      'Describe what recorded batches offer to learn from: of a file, or of an experiment over its steps.',
    )
    .addHelpText('after', '  echelon signal exp-00cz8h3k7n2q4r5s6t7v')
    .action(async (name: string, options: ApiOptions & { batch?: string }) => {
      if (name === '-' || existsSync(name)) {
        process.exitCode = await signalFile(name, options, streams);
        return;
      }
      const client = await clientFor(options);
      const id = await experimentNamed(client, name);
      const { items } = await readPages((query) =>
        client.get('/v1/experiments/{id}/signal', { path: { id }, query }),
      );
      output.line(options.json ? json({ items }) : curvesText(items, output.columns));
    });
}

/** Each figure over the steps, as a table with a column a step. */
function curvesText(items: SignalPage['items'], width: number | undefined): string {
  if (items.length === 0) return 'No verified batch has observations and returns.';
  const every = Math.max(1, (items.length - 1) / (MAX_POINTS - 1));
  const shown = Array.from(
    { length: Math.min(items.length, MAX_POINTS) },
    (_, at) => items[Math.round(at * every)]!,
  );
  const names = [...new Set(items.flatMap(({ values }) => Object.keys(values)))];
  const rows = names.map((name) => [
    name,
    ...shown.map(({ values }) => values[name]?.toFixed(values[name]! < 10 ? 2 : 1) ?? '-'),
  ]);
  const head = ['STEP', ...shown.map(({ step }) => String(step))];
  return `describes the signal, does not predict success\n${table(head, rows, width)}`;
}
