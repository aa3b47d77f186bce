import { styleText } from 'node:util';
import { wholeNumber } from 'command-kit/arguments';
import { colored, withoutControls } from 'command-kit/colors';
import { examples } from 'command-kit/examples';
import { jsonLine, type Output } from 'command-kit/output';
import { Command, Option } from 'commander';
import type { LogPage } from 'echelon-client/calls';
import { parseEntryId } from '../../core/ids.ts';
import { type LogText, logTexts } from '../../core/log-lines.ts';
import type { Client } from '../client.ts';
import { type ApiOptions, clientFor, withConnection } from '../connection.ts';
import { experimentNamed, NAME_FORMS } from '../names.ts';

interface Options extends ApiOptions {
  raw?: boolean;
  follow?: boolean;
  tail?: number;
  sinceLine?: number;
  attempt?: number;
  contains?: string;
}

const COUNT = wholeNumber(1, 1e12);

type Line = Omit<LogPage['lines'][number], 'id'>;

/** `echelon logs`: the output of the driver. */
function logsCommand(output: Output): Command {
  return withConnection(new Command('logs'))
    .description('Print the output of the driver, attempt after attempt.')
    .argument('<id>', `experiment: ${NAME_FORMS}`)
    .option('-f, --follow', 'continue until the experiment has ended')
    .option('--tail <lines>', 'only this number of last lines', COUNT)
    .addOption(
      new Option('--since-line <number>', 'start at this line; --json shows line numbers')
        .argParser(COUNT)
        .conflicts('tail'),
    )
    .option('--attempt <number>', 'only this attempt', COUNT)
    .option('--contains <text>', 'only lines that contain this text')
    .option(
      '--raw',
      'print lines as they were recorded, with control characters; for files, not for terminals',
    )
    .option('--json', 'print one JSON object per line')
    .addHelpText(
      'after',
      examples(
        'echelon logs exp-00cz8h3k7n2q4r5s6t7v --attempt 2 --contains CUDA',
        'echelon logs exp-00cz8h3k7n2q4r5s6t7v --follow --tail 20',
      ),
    )
    .action(async (name: string, options: Options) => {
      const client = await clientFor(options);
      const id = await experimentNamed(client, name);
      const printing = { client, id, options, screen: createScreen(output, options) };
      const last = await printRecorded(printing);
      if (options.follow) await printFollowing({ ...printing, last });
    });
}

type States = ReadonlyMap<LogText['source'], string>;

/** Where lines are printed, and after them the present states of progress bars. */
interface Screen {
  line(line: Line): void;
  /** On a terminal, replaces the states that were shown before. */
  states(states: States): void;
}

function createScreen(output: Output, { json, raw, follow }: Options): Screen {
  // In colours if the terminal, or the user's environment, asks for them.
  const text = raw ? String : styleText('red', ' ') === ' ' ? withoutControls : colored;
  const block = json || raw ? undefined : output.block?.();
  let isShown = false;
  const show = (states: States) => {
    if (isShown || states.size > 0) block?.show([...states.values()].map(text));
    isShown = states.size > 0;
  };
  return {
    line(line) {
      show(new Map());
      output.line(json ? jsonLine(line) : text(line.text));
    },
    states(states) {
      if (block) return show(states);
      // Elsewhere a bar would be a line for each of its states.
      if (!json && !follow) for (const state of states.values()) output.line(text(state));
    },
  };
}

/** The number of the last printed line, and the id of its event; null if unknown. */
interface Last {
  line: number | null;
  entry: string | null;
}

interface Printing {
  client: Client;
  id: string;
  options: Options;
  screen: Screen;
}

async function printRecorded({ client, id, options, screen }: Printing): Promise<Last> {
  const { tail, sinceLine: since, attempt, contains } = options;
  const isFiltered = (attempt ?? contains) !== undefined;
  const isWhole = !isFiltered && tail === undefined && since === undefined;
  const last: Last = { line: isWhole ? 0 : null, entry: null };
  let start: { tail?: number | undefined; since?: number | undefined; after?: string } = { tail, since };
  for (;;) {
    const query = { attempt, contains, ...start };
    const page = await client.get('/v1/experiments/{id}/logs', { path: { id }, query });
    for (const { id: _entry, ...line } of page.lines) screen.line(line);
    if (!page.more) screen.states(new Map(page.progress.map(({ source, text }) => [source, text])));
    // Lines that the filter omits count too, so the number of the next line is unknown.
    last.line = isFiltered ? null : (page.lines.at(-1)?.line ?? last.line);
    last.entry = page.after ?? last.entry;
    if (!page.more || page.after === null) return last;
    start = { after: page.after };
  }
}

async function printFollowing({
  client,
  id,
  options,
  screen,
  last,
}: Printing & { last: Last }): Promise<void> {
  const { signal } = new AbortController();
  const states = new Map<LogText['source'], string>();
  let number = last.line;
  for await (const { id: entry, at, event } of client.events(id, {
    after: last.entry ?? undefined,
    signal,
  })) {
    const attempt = parseEntryId(entry)?.attempt ?? 0;
    for (const { source, text } of logTexts(event)) {
      if (number !== null) number++;
      if (isWanted({ attempt, source, text }, options))
        screen.line({ line: number, at, attempt, source, text });
    }
    if (event.type === 'ended') states.clear();
    if (event.type === 'log') {
      const { source, progress: text } = event;
      states.delete(source);
      if (text && isWanted({ attempt, source, text }, options)) states.set(source, text);
      screen.states(states);
    }
  }
}

function isWanted(line: LogText & { attempt: number }, { attempt, contains }: Options): boolean {
  if (attempt !== undefined && line.attempt !== attempt) return false;
  if (line.source === 'gap') return true;
  return !contains || withoutControls(line.text).includes(contains);
}

/** The commands of this module by their names. */
export const commands = { logs: logsCommand };
