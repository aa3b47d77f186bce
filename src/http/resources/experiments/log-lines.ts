import { withoutControls } from 'command-kit/colors';
import type { StreamEntry } from '../../../core/events.ts';
import { parseEntryId } from '../../../core/ids.ts';
import { logTexts } from '../../../core/log-lines.ts';
import type { LogCount, LogPage } from '../../../schemas/streams.ts';
import { compareIds } from '../../../store/archive/archive-segments.ts';
import type { EventPage } from '../../../store/events/events.ts';
import type { Store } from '../../../store/store.ts';

/** A line of a log as it is answered. */
type LogLine = LogPage['lines'][number];

/** Which lines are wanted. Default of each field: all lines. */
export interface LogFilter {
  attempt?: number;
  source?: 'stdout' | 'stderr';
  /** A text that the line must contain, as it stands. */
  contains?: string;
}

/** Entries that one reading step holds at most. */
const PAGE = 128;
/** Entries of the first step, before their size is known. */
const FIRST_PAGE = 16;
/** Characters that one reading step holds, and one entry. A slow client of a download holds them as long as it likes. */
const PAGE_CHARACTERS = 256 * 1024;
/** Entries that one request looks through at most. */
const MAX_READ = 10_000;
/** A page of lines ends behind the event with which it has so many. */
const MAX_LINES = 2000;
const MAX_CHARACTERS = 2 * 1024 * 1024;

type Reading = Store;

/** An entry with the number of lines before it; null: not known. */
interface Numbered {
  entry: StreamEntry;
  before: number | null;
}

/** The wanted lines of an entry, numbered. A gap is shown whatever is looked for, unless it is of another attempt. */
export function linesOf({ entry, before }: Numbered, filter: LogFilter = {}): LogLine[] {
  const { id, at, event } = entry;
  if (isOfAnother(entry, filter)) return [];
  const attempt = parseEntryId(id)?.attempt ?? 0;
  return logTexts(event).flatMap(({ source, text }, index): LogLine[] =>
    source === 'gap' || isWanted({ source, text }, filter)
      ? [{ line: before === null ? null : before + index + 1, id, at, attempt, source, text }]
      : [],
  );
}

function isOfAnother({ id }: StreamEntry, { attempt }: LogFilter): boolean {
  return attempt !== undefined && attempt !== (parseEntryId(id)?.attempt ?? 0);
}

function isWanted(line: { source: string; text: string }, { source, contains }: LogFilter): boolean {
  if (source !== undefined && source !== line.source) return false;
  // Colours stand between the letters of a line.
  return (
    contains === undefined || line.text.includes(contains) || withoutControls(line.text).includes(contains)
  );
}

/** Entries at the end of a stream in which {@link progressOf} looks. */
const NEWEST = 16;

/** The present states of progress bars that fit the filter, unless much has been recorded since. */
export async function progressOf(
  store: Reading,
  { id, filter }: { id: string; filter: LogFilter },
): Promise<LogPage['progress']> {
  const states = new Map<'stdout' | 'stderr', string>();
  const newest = (await store.events.tail(id, NEWEST)).filter((entry) => !isOfAnother(entry, filter));
  for (const { event } of newest) {
    if (event.type === 'started' || event.type === 'ended') states.clear();
    if (event.type !== 'log') continue;
    if (event.lines.length > 0) states.delete(event.source);
    if (event.progress) states.set(event.source, event.progress);
  }
  return [...states]
    .map(([source, text]) => ({ source, text }))
    .filter(({ source, text }) => isWanted({ source, text }, filter));
}

/**
 * The entries after `after`, or from the one that has line `since` on, in order, in pages, each with the number of
 * lines before it. It begins at most about 256 lines or 1,024 events before that place, however long the log is.
 */
export async function* numberedEntries(
  store: Reading,
  { id, after, since }: { id: string; after: string | undefined; since?: number | undefined },
): AsyncGenerator<Numbered[], void, undefined> {
  const of = since === undefined ? { entry: after ?? '0-0' } : { line: since };
  const place =
    after === undefined && since === undefined ? undefined : await store.events.logPosition(id, of);
  // Recorded before there was an index, or nothing is logged yet.
  const isUnknown = place !== undefined && place.lines === 0 && since === undefined;
  let before = isUnknown ? null : (place?.before ?? 0);
  let last = place?.entry ? placeBefore(place.entry) : after;
  let count = FIRST_PAGE;
  for (let more = true; more; ) {
    const step = await readStep(store, { id, last, count });
    ({ more, count } = step);
    const page: Numbered[] = [];
    for (const entry of step.entries) {
      if (after === undefined || compareIds(entry.id, after) > 0) page.push({ entry, before });
      if (before !== null) before += logTexts(entry.event).length;
    }
    last = step.entries.at(-1)?.id ?? last;
    if (page.length > 0) yield page;
  }
}

/**
 * The next entries, `count` at most, and how many to ask for next. Entries after {@link PAGE_CHARACTERS} are left for the
 * next step: a page of the store may have several times as many.
 */
async function readStep(
  store: Reading,
  { id, last, count }: { id: string; last: string | undefined; count: number },
): Promise<EventPage & { count: number }> {
  const page = await store.events.page(id, last, count);
  let [length, characters] = [0, 0];
  while (length < page.entries.length && characters < PAGE_CHARACTERS) {
    characters += charactersOf(page.entries[length]!);
    length += 1;
  }
  const fitting = Math.ceil((PAGE_CHARACTERS * length) / Math.max(1, characters));
  return {
    entries: page.entries.slice(0, length),
    more: page.more || length < page.entries.length,
    count: Math.max(1, Math.min(PAGE, fitting)),
  };
}

/** About how large an entry is in memory. */
function charactersOf({ event }: StreamEntry): number {
  if (event.type !== 'log') return JSON.stringify(event).length;
  return logTexts(event).reduce((sum, { text }) => sum + text.length, 0);
}

/** The position right before an event: reading after it begins with the event. */
function placeBefore(entry: string): string {
  const [attempt, low] = entry.split('-') as [string, string];
  return `${attempt}-${BigInt(low) - 1n}`;
}

/** Lines with the position after them. */
type Lines = Omit<LogPage, 'progress'>;

/** A page of lines after a place, or from a line on. */
export async function readLines(
  store: Reading,
  { after, since, filter, id }: { id: string; after?: string; since?: number; filter: LogFilter },
): Promise<Lines> {
  const start = after ?? (since === undefined ? startOf(filter) : undefined);
  const lines: LogLine[] = [];
  let [last, read, characters] = [after ?? null, 0, 0];
  for await (const page of numberedEntries(store, { id, after: start, since })) {
    for (const numbered of page) {
      if (isAfter(numbered, filter)) return { lines, after: last, more: false };
      last = numbered.entry.id;
      read++;
      for (const line of linesOf(numbered, filter)) {
        if (since !== undefined && line.line !== null && line.line < since) continue;
        lines.push(line);
        characters += line.text.length;
      }
      if (lines.length >= MAX_LINES || characters >= MAX_CHARACTERS || read >= MAX_READ) {
        return { lines, after: last, more: true };
      }
    }
  }
  return { lines, after: last, more: false };
}

/** How many lines after a place fit the filter, in at most {@link MAX_READ} events. Lines that mark gaps do not count. */
export async function countLines(
  store: Reading,
  { id, after, filter }: { id: string; after: string | undefined; filter: LogFilter },
): Promise<LogCount> {
  let [matching, last, read] = [0, after ?? null, 0];
  for await (const page of numberedEntries(store, { id, after: after ?? startOf(filter) })) {
    for (const numbered of page) {
      if (isAfter(numbered, filter)) return { matching, after: last, more: false };
      last = numbered.entry.id;
      matching += linesOf(numbered, filter).filter(({ source }) => source !== 'gap').length;
    }
    read += page.length;
    if (read >= MAX_READ) return { matching, after: last, more: true };
  }
  return { matching, after: last, more: false };
}

/** An attempt's lines begin after its first possible id, and end where another's begin. */
const startOf = ({ attempt }: LogFilter): string | undefined => (attempt ? `${attempt}-0` : undefined);

function isAfter({ entry }: Numbered, { attempt }: LogFilter): boolean {
  return attempt !== undefined && (parseEntryId(entry.id)?.attempt ?? 0) > attempt;
}

/**
 * The last wanted lines, so many or {@link MAX_CHARACTERS}; of a filtered log, as far back as {@link MAX_READ} entries
 * reach. Memory: those lines, and one page.
 */
export async function readLastLines(
  store: Reading,
  { id, tail, filter }: { id: string; tail: number; filter: LogFilter },
): Promise<Lines> {
  const { lines: total } = await store.events.logPosition(id, { line: 1 });
  // Recorded before lines were counted, or nothing is logged yet.
  if (total === 0) return await readLastEntries(store, { id, tail, filter });
  const from = (back: number) =>
    linesUpTo(store, { id, tail, filter, since: Math.max(1, total - back + 1), total });
  let back = tail;
  let found = await from(back);
  // Too much lies between so many lines: only what is nearer to the end can be had.
  const isFar = found === undefined;
  while (found === undefined && back > 1) {
    back = Math.max(1, Math.floor(back / 64));
    found = await from(back);
  }
  while (found !== undefined && !isFar && found.lines.length < tail && back < total) {
    back *= 4;
    const further = await from(back);
    if (further === undefined) break;
    found = further;
  }
  return found ?? { lines: [], after: (await store.events.tail(id, 1))[0]?.id ?? null, more: false };
}

/** The last `tail` wanted lines from line `since` to line `total`; undefined: there are too many entries. */
async function linesUpTo(
  store: Reading,
  input: { id: string; tail: number; filter: LogFilter; since: number; total: number },
): Promise<Lines | undefined> {
  const { id, tail, filter, since, total } = input;
  let lines: LogLine[] = [];
  let after: string | null = null;
  let read = 0;
  for await (const page of numberedEntries(store, { id, after: undefined, since })) {
    for (const numbered of page) {
      after = numbered.entry.id;
      lines.push(...linesOf(numbered, filter).filter(({ line }) => line === null || line >= since));
      if ((numbered.before ?? 0) + logTexts(numbered.entry.event).length >= total) {
        return { lines: lastOf(lines, tail), after, more: false };
      }
    }
    read += page.length;
    if (read >= MAX_READ) return undefined;
    lines = lastOf(lines, tail);
  }
  return { lines: lastOf(lines, tail), after, more: false };
}

/** The last lines, so many or so many characters at most. */
function lastOf(lines: LogLine[], tail: number): LogLine[] {
  let [first, characters] = [lines.length, 0];
  while (first > 0 && lines.length - first < tail) {
    characters += lines[first - 1]!.text.length;
    if (characters > MAX_CHARACTERS && first < lines.length) break;
    first--;
  }
  return lines.slice(first);
}

async function readLastEntries(
  store: Reading,
  { id, tail, filter }: { id: string; tail: number; filter: LogFilter },
): Promise<Lines> {
  const newest = await store.events.tail(id, PAGE);
  const lines = newest.flatMap((entry) => linesOf({ entry, before: null }, filter));
  return { lines: lastOf(lines, tail), after: newest.at(-1)?.id ?? null, more: false };
}

/** The wanted lines from line `since` on as text, up to where the log ends now; memory: one page. */
export async function* logText(
  store: Reading,
  { id, since, filter }: { id: string; since?: number | undefined; filter: LogFilter },
): AsyncGenerator<string, void, undefined> {
  const end = (await store.events.tail(id, 1))[0]?.id;
  if (end === undefined) return;
  const after = since === undefined ? startOf(filter) : undefined;
  for await (const page of numberedEntries(store, { id, after, since })) {
    let text = '';
    for (const numbered of page) {
      if (isAfter(numbered, filter)) break;
      for (const line of linesOf(numbered, filter)) {
        if (since === undefined || line.line === null || line.line >= since) text += `${line.text}\n`;
      }
    }
    if (text !== '') yield text;
    const last = page.at(-1)!;
    if (isAfter(last, filter) || compareIds(last.entry.id, end) >= 0) return;
  }
}
