import { Command, Option } from 'commander';
import { parseEntryId } from '../../core/ids.ts';
import { type LogText, logTexts } from '../../core/log-lines.ts';
import type { LogPage } from '../../schemas/streams.ts';
import { wholeNumber } from '../arguments.ts';
import type { Client } from '../client.ts';
import { type ConnectionOptions, clientFor, withConnection } from '../connection.ts';
import { experimentNamed, NAMES_IT } from '../names.ts';
import { inert, jsonLine, type Output } from '../output.ts';

interface Options extends ConnectionOptions {
  json?: boolean;
  raw?: boolean;
  follow?: boolean;
  tail?: number;
  sinceLine?: number;
  attempt?: number;
  source?: 'stdout' | 'stderr';
  contains?: string;
}

const ABOVE_0 = wholeNumber(1, 1e12);

type Line = Omit<LogPage['lines'][number], 'id'>;

/** `echelon logs`: what the driver wrote. */
export function logsCommand(output: Output): Command {
  return withConnection(new Command('logs'))
    .description('print what the driver wrote, all attempts one after the other')
    .argument('<id>', NAMES_IT)
    .option('-f, --follow', 'go on until the experiment has ended')
    .option('--tail <lines>', 'only the last lines', ABOVE_0)
    .addOption(
      new Option('--since-line <number>', 'from this line on; --json shows the numbers')
        .argParser(ABOVE_0)
        .conflicts('tail'),
    )
    .option('--attempt <number>', 'only of this attempt', ABOVE_0)
    .addOption(new Option('--source <pipe>', 'only of this pipe').choices(['stdout', 'stderr']))
    .option('--contains <text>', 'only lines with this text, letter by letter')
    .option('--raw', 'as it was written, control characters too: for files, not for terminals')
    .option('--json', 'print a JSON object for each line')
    .addHelpText(
      'after',
      '\nExamples:\n  echelon logs exp-00cz8h3k7n2q4r5s6t7v --attempt 2 --contains CUDA\n  echelon logs exp-00cz8h3k7n2q4r5s6t7v --follow --tail 20',
    )
    .action(async (name: string, options: Options) => {
      const client = await clientFor(options);
      const id = await experimentNamed(client, name);
      const shown = (line: Line): string => {
        if (options.json) return jsonLine(line);
        return options.raw ? line.text : inert(line.text);
      };
      const print = (line: Line) => output.line(shown(line));
      const last = await printRecorded({ client, id, options, print });
      if (options.follow) await printFollowing({ client, id, options, print, last });
    });
}

/** Number of the last line that was printed and its event; both null where there is none. */
interface Last {
  line: number | null;
  entry: string | null;
}

interface Printing {
  client: Client;
  id: string;
  options: Options;
  print: (line: Line) => void;
}

async function printRecorded({ client, id, options, print }: Printing): Promise<Last> {
  const { tail, sinceLine: since, attempt, source, contains } = options;
  const isFiltered = (attempt ?? source ?? contains) !== undefined;
  const isWhole = !isFiltered && tail === undefined && since === undefined;
  const last: Last = { line: isWhole ? 0 : null, entry: null };
  let place: Record<string, string | number | undefined> = { tail, since };
  for (;;) {
    const query = { attempt, source, contains, ...place };
    const page = await client.get<LogPage>(`/v1/experiments/${encodeURIComponent(id)}/logs`, query);
    for (const { id: _entry, ...line } of page.lines) print(line);
    // What was left out has numbers too.
    last.line = isFiltered ? null : (page.lines.at(-1)?.line ?? last.line);
    last.entry = page.after ?? last.entry;
    if (!page.more || page.after === null) return last;
    place = { after: page.after };
  }
}

async function printFollowing({
  client,
  id,
  options,
  print,
  last,
}: Printing & { last: Last }): Promise<void> {
  const { signal } = new AbortController();
  let number = last.line;
  for await (const { id: entry, at, event } of client.events(id, {
    after: last.entry ?? undefined,
    signal,
  })) {
    const attempt = parseEntryId(entry)?.attempt ?? 0;
    for (const { source, text } of logTexts(event)) {
      if (number !== null) number++;
      if (isWanted({ attempt, source, text }, options)) print({ line: number, at, attempt, source, text });
    }
  }
}

function isWanted(line: LogText & { attempt: number }, { attempt, source, contains }: Options): boolean {
  if (attempt !== undefined && line.attempt !== attempt) return false;
  if (line.source === 'gap') return true;
  return (source === undefined || line.source === source) && (!contains || line.text.includes(contains));
}
