/** An entry as it is sent: encoded once, for every client of the process. */
export interface Frame {
  id: string;
  bytes: Buffer;
}

/** Where the entries of one stream come from. */
export interface Source<T extends { id: string }> {
  /** Id of the newest entry; undefined: there is none yet. */
  newest(): Promise<string | undefined>;
  read(after: string | undefined, limit: number): Promise<T[]>;
  /** Entries behind `after` as they arise; it ends where nothing can come any more. */
  follow(after: string | undefined, signal: AbortSignal): AsyncIterable<T>;
}

export interface FanOutOptions<T> {
  /** Below 0 where the first id comes before the second. */
  compare: (a: string, b: string) => number;
  encode: (entry: T) => string;
  /** Bytes of the newest frames that are kept for the clients of one stream. */
  bufferBytes: number;
}

/** Entries that a client which is behind reads at once. */
const PAGE = 64;

/**
 * One reader for each stream, however many clients it has in this process. The newest frames are kept, once for all;
 * a client that is not among them (it has just come, or is slow) reads on by itself until it is, so that nothing is
 * kept for it. Every client gets each entry behind its place once, in order.
 */
export function createFanOut<T extends { id: string }>(options: FanOutOptions<T>) {
  const readers = new Map<string, Reader>();

  return {
    /** Frames of the stream `key` behind `after`. Ends and fails as the source does, or when `signal` aborts. */
    async *frames(
      key: string,
      { source, after, signal }: { source: Source<T>; after: string | undefined; signal: AbortSignal },
    ): AsyncGenerator<Frame, void, undefined> {
      const reader = readers.get(key) ?? startReader(source, options);
      if (!reader.ended) readers.set(key, reader);
      reader.clients++;
      const ring = () => reader.wake();
      signal.addEventListener('abort', ring);
      try {
        let last = after;
        while (!signal.aborted) {
          const next = reader.next(last);
          if (next === 'behind') {
            const entries = await source.read(last, PAGE);
            // What it was behind is gone: it goes on where the reader is.
            if (entries.length === 0) last = reader.start;
            for (const entry of entries) {
              if (signal.aborted) return;
              last = entry.id;
              yield frameOf(entry, options.encode);
            }
          } else if (next !== undefined) {
            last = next.id;
            yield next;
          } else if (reader.ended) {
            if (reader.error !== undefined) throw reader.error;
            return;
          } else {
            await reader.changed();
          }
        }
      } finally {
        signal.removeEventListener('abort', ring);
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
  /** The frame behind `last`; undefined: it is not here yet; `behind`: it has to be read elsewhere. */
  next(last: string | undefined): Frame | 'behind' | undefined;
  /** Resolves when there is something new to look at. */
  changed(): Promise<void>;
  wake(): void;
  stop(): void;
}

function startReader<T extends { id: string }>(
  source: Source<T>,
  { compare, encode, bufferBytes }: FanOutOptions<T>,
): Reader {
  const stop = new AbortController();
  const frames: Frame[] = [];
  let bytes = 0;
  let isReady = false;
  let change = Promise.withResolvers<void>();

  const reader: Reader = {
    clients: 0,
    ended: false,
    error: undefined,
    start: undefined,
    next(last) {
      if (!isReady) return undefined;
      if (reader.start !== undefined && (last === undefined || compare(last, reader.start) < 0))
        return 'behind';
      return last === undefined ? frames[0] : firstBehind(frames, last, compare);
    },
    changed: () => change.promise,
    wake() {
      change.resolve();
      change = Promise.withResolvers<void>();
    },
    stop: () => stop.abort(),
  };

  async function run(): Promise<void> {
    reader.start = await source.newest();
    isReady = true;
    reader.wake();
    for await (const entry of source.follow(reader.start, stop.signal)) {
      const frame = frameOf(entry, encode);
      frames.push(frame);
      bytes += frame.bytes.length;
      while (bytes > bufferBytes && frames.length > 1) {
        const oldest = frames.shift()!;
        bytes -= oldest.bytes.length;
        reader.start = oldest.id;
      }
      reader.wake();
    }
  }

  void run()
    .catch((error: unknown) => {
      reader.error = error;
    })
    .finally(() => {
      reader.ended = true;
      reader.wake();
    });
  return reader;
}

function frameOf<T extends { id: string }>(entry: T, encode: (entry: T) => string): Frame {
  return { id: entry.id, bytes: Buffer.from(encode(entry)) };
}

/** By halves: the frames are in order. */
function firstBehind(
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
