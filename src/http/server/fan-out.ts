/** An entry as it is sent, or several together: encoded once, for every client of the process. */
export interface Frame {
  /** Of its last entry. */
  id: string;
  bytes: Buffer;
}

/** Where the entries of one stream come from. */
export interface Source<T extends { id: string }> {
  /** Id of the newest entry; undefined: there is none yet. */
  newest(): Promise<string | undefined>;
  read(after: string | undefined, limit: number): Promise<T[]>;
  /** Entries after `after` as they arise; ends when no more can follow. */
  follow(after: string | undefined, signal: AbortSignal): AsyncIterable<T>;
}

interface FanOutOptions<T> {
  /** Below 0 if the first id comes before the second. */
  compare: (a: string, b: string) => number;
  encode: (entry: T) => string;
  /** Bytes of the newest frames that are kept for the clients of one stream. */
  bufferBytes: number;
}

/** Entries that a lagging client reads at a time. */
const PAGE = 64;
/** They are sent together, up to about so many bytes: a write for each of them costs more than all the rest. */
const JOINED_BYTES = 64 * 1024;
/** Clients that are served in one turn of the event loop. */
const TURN = 100;

/**
 * One reader for each stream, however many clients it has in this process. The newest frames are kept, once for all;
 * a client that is not among them (it has just come, or is slow) reads on by itself until it is, so that nothing is
 * kept for it. Every client gets each entry behind its place once, in order.
 */
export function createFanOut<T extends { id: string }>(options: FanOutOptions<T>) {
  const readers = new Map<string, Reader>();

  return {
    /** Frames of the stream `key` after `after`. Ends and fails as the source does, or when `signal` aborts. */
    async *frames(
      key: string,
      { source, after, signal }: { source: Source<T>; after: string | undefined; signal: AbortSignal },
    ): AsyncGenerator<Frame, void, undefined> {
      const reader = readers.get(key) ?? startReader(source, options);
      if (!reader.ended) readers.set(key, reader);
      reader.clients++;
      let ring = () => {};
      // A reader that leaves wakes itself alone: to wake all of them each time is quadratic if thousands leave at once.
      const onAbort = () => ring();
      signal.addEventListener('abort', onAbort);
      try {
        let last = after;
        while (!signal.aborted) {
          const next = reader.next(last);
          if (next === 'lagging') {
            const page = await reader.page(last);
            // Its position is gone: it continues at the reader's position.
            if (page.length === 0) last = reader.start;
            for (const frame of page) {
              if (signal.aborted) return;
              last = frame.id;
              yield frame;
            }
          } else if (next !== undefined) {
            last = next.id;
            yield next;
          } else if (reader.ended) {
            if (reader.error !== undefined) throw reader.error;
            return;
          } else {
            await new Promise<void>((resolve) => {
              ring = resolve;
              reader.waiting.add(resolve);
            });
          }
        }
      } finally {
        signal.removeEventListener('abort', onAbort);
        reader.waiting.delete(ring);
        reader.clients--;
        if (reader.clients === 0) reader.stop();
        if ((reader.clients === 0 || reader.ended) && readers.get(key) === reader) readers.delete(key);
      }
    },
    /** Streams that are read now. */
    get readers() {
      return readers.size;
    },
  };
}

interface Reader {
  clients: number;
  ended: boolean;
  error: unknown;
  /** What lies before the oldest frame that is kept. */
  start: string | undefined;
  /** The frame after `last`; undefined: it does not exist yet; `lagging`: it has to be read from the source. */
  next(last: string | undefined): Frame | 'lagging' | undefined;
  /** The entries after `last`, from the source; clients that ask for the same at the same time share one read. */
  page(last: string | undefined): Promise<Frame[]>;
  /** Called once each, when there is something new to look at. */
  waiting: Set<() => void>;
  stop(): void;
}

// biome-ignore lint/complexity/noExcessiveLinesPerFunction: one object: its methods share what the function holds
function startReader<T extends { id: string }>(
  source: Source<T>,
  { compare, encode, bufferBytes }: FanOutOptions<T>,
): Reader {
  const stop = new AbortController();
  const frames: Frame[] = [];
  let bytes = 0;
  let isReady = false;
  const pages = new Map<string | undefined, Promise<Frame[]>>();

  const reader: Reader = {
    clients: 0,
    ended: false,
    error: undefined,
    start: undefined,
    next(last) {
      if (!isReady) return undefined;
      if (reader.start !== undefined && (last === undefined || compare(last, reader.start) < 0))
        return 'lagging';
      return last === undefined ? frames[0] : firstAfter(frames, last, compare);
    },
    page(last) {
      const asked = pages.get(last);
      if (asked !== undefined) return asked;
      const page = source
        .read(last, PAGE)
        .then((entries) => joined(entries, encode))
        .finally(() => pages.delete(last));
      pages.set(last, page);
      return page;
    },
    waiting: new Set(),
    stop: () => stop.abort(),
  };

  function wakeAll(): void {
    const woken = [...reader.waiting];
    reader.waiting.clear();
    wakeInTurns(woken);
  }

  async function run(): Promise<void> {
    reader.start = await source.newest();
    isReady = true;
    wakeAll();
    for await (const entry of source.follow(reader.start, stop.signal)) {
      const frame = frameOf(entry, encode);
      frames.push(frame);
      bytes += frame.bytes.length;
      while (bytes > bufferBytes && frames.length > 1) {
        const oldest = frames.shift()!;
        bytes -= oldest.bytes.length;
        reader.start = oldest.id;
      }
      wakeAll();
    }
  }

  void run()
    .catch((error: unknown) => {
      reader.error = error;
    })
    .finally(() => {
      reader.ended = true;
      wakeAll();
    });
  return reader;
}

/** Requests are answered between the turns; what arises meanwhile, those that still wait find together. */
function wakeInTurns(woken: readonly (() => void)[], from = 0): void {
  for (const wake of woken.slice(from, from + TURN)) wake();
  if (from + TURN < woken.length) setImmediate(wakeInTurns, woken, from + TURN);
}

/** Its bytes are outside of Node's pool: a frame that is retained would keep 64 kB of the pool with it. */
function frameOf<T extends { id: string }>(entry: T, encode: (entry: T) => string): Frame {
  const text = encode(entry);
  const bytes = Buffer.allocUnsafeSlow(Buffer.byteLength(text));
  bytes.write(text);
  return { id: entry.id, bytes };
}

/** Entries as they are sent, in few frames; each has the id of its last entry. */
function joined<T extends { id: string }>(entries: readonly T[], encode: (entry: T) => string): Frame[] {
  const frames: Frame[] = [];
  let text = '';
  entries.forEach((entry, at) => {
    text += encode(entry);
    if (text.length < JOINED_BYTES && at < entries.length - 1) return;
    frames.push({ id: entry.id, bytes: Buffer.from(text) });
    text = '';
  });
  return frames;
}

/** By halves: the frames are in order. */
function firstAfter(
  frames: readonly Frame[],
  last: string,
  compare: (a: string, b: string) => number,
): Frame | undefined {
  let [low, high] = [0, frames.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (compare(frames[middle]!.id, last) > 0) high = middle;
    else low = middle + 1;
  }
  return frames[low];
}
