import type { Redis } from 'ioredis';
import { EchelonError } from '../../core/errors.ts';

/** A copy of everything in a Redis at one moment, in the format of its snapshot files (RDB). */
export interface Snapshot {
  /** The id of the server's history, and the position in it. */
  position: string;
  bytes: AsyncIterable<Buffer>;
}

/** The server answers so, with the id of its history and the position of the snapshot. */
const ANSWER = /^\+FULLRESYNC ([0-9a-f]+) (\d+)$/;
/** The mark at the end of a snapshot whose length is not known at its start. */
const MARK_LENGTH = 40;
/** A server that forks, or waits for other replicas, sends a line end now and then. */
const SILENCE_MS = 60_000;

/**
 * Takes a snapshot as a replica would: the server forks, so that others wait for nothing, and needs no file of its own.
 * `redis` is a connection of its own, which is unusable afterwards. Throws EchelonError `store-unavailable` if the server
 * refuses or ends it.
 */
export async function takeSnapshot(redis: Redis): Promise<Snapshot> {
  // Both are of Redis 7: the end is marked, and the server stores no later writes for this replica.
  for (const [name, value] of Object.entries({ capa: 'eof', 'rdb-only': '1' }))
    await redis.call('REPLCONF', name, value).catch((error: Error) => refused(error.message));
  const { stream } = redis;
  stream.removeAllListeners('data');
  stream.setTimeout(SILENCE_MS, () => stream.destroy(new Error('the server is silent')));
  const input = createInput(stream);
  stream.write('PSYNC ? -1\r\n');
  const answer = await input.line();
  const [, history, offset] = ANSWER.exec(answer) ?? refused(answer);
  const head = await input.line();
  if (head.startsWith('$EOF:')) {
    const mark = Buffer.from(head.slice(5));
    if (mark.length === MARK_LENGTH)
      return { position: `${history} ${offset}`, bytes: untilMark(input, mark) };
  }
  const length = /^\$(\d+)$/.exec(head) ?? refused(head);
  return { position: `${history} ${offset}`, bytes: ofLength(input, Number(length[1])) };
}

function refused(answer: string): never {
  throw new EchelonError('store-unavailable', `Redis gives no snapshot: ${answer.slice(0, 200)}`);
}

type Input = ReturnType<typeof createInput>;

/** Reads a socket in lines, then in pieces. */
function createInput(stream: NodeJS.ReadableStream) {
  const pieces = stream[Symbol.asyncIterator]() as AsyncIterator<Buffer>;
  let rest = Buffer.alloc(0);

  async function piece(): Promise<Buffer> {
    const { value, done } = await pieces.next().catch((error: Error) => refused(error.message));
    return done ? refused('the connection ended') : value;
  }

  return {
    /** The next line that is not empty. */
    async line(): Promise<string> {
      for (;;) {
        const end = rest.indexOf('\n');
        if (end < 0) {
          rest = Buffer.concat([rest, await piece()]);
          continue;
        }
        const line = rest.subarray(0, end).toString('latin1').trim();
        rest = rest.subarray(end + 1);
        if (line !== '') return line;
      }
    },
    /** The bytes that have arrived, at least one. */
    async bytes(): Promise<Buffer> {
      if (rest.length === 0) return await piece();
      const bytes = rest;
      rest = Buffer.alloc(0);
      return bytes;
    },
  };
}

async function* ofLength(input: Input, length: number): AsyncGenerator<Buffer> {
  for (let left = length; left > 0; ) {
    const bytes = (await input.bytes()).subarray(0, left);
    left -= bytes.length;
    yield bytes;
  }
}

async function* untilMark(input: Input, mark: Buffer): AsyncGenerator<Buffer> {
  for (let held = Buffer.alloc(0); ; ) {
    held = Buffer.concat([held, await input.bytes()]);
    // Nothing follows the mark: the server sends no writes to this replica.
    const ready = held.length - MARK_LENGTH;
    if (ready < 0) continue;
    if (ready > 0) yield held.subarray(0, ready);
    held = held.subarray(ready);
    if (held.equals(mark)) return;
  }
}
