import { setTimeout as sleep } from 'node:timers/promises';
import { stripVTControlCharacters } from 'node:util';
import type { RayChannel } from './channel.ts';
import { LOGSTREAM, type LogData } from './protocol.ts';

const REOPEN_DELAY_MS = 1_000;
const INFO = 20;

/** Lines that a process of this session's job printed, or a record of Ray's own logger. */
export interface RayLog {
  readonly kind: 'stdout' | 'stderr' | 'ray';
  /** Level of Python's logging, for `ray`. */
  readonly level: number | undefined;
  /** May hold several lines; each begins with `(Name pid=…)` if a process printed it. No colour codes. */
  readonly text: string;
}

/** A subscription to logs. */
export interface LogStream {
  /** Adds a listener; the returned function removes it. */
  subscribe(listener: (log: RayLog) => void): () => void;
  close(): void;
}

/**
 * Logs of one session, opened with the first listener and opened again when the stream breaks. What is
 * printed while it is broken is lost: the server does not keep it.
 */
export function createLogStream(channel: RayChannel, clientId: string): LogStream {
  const listeners = new Set<(log: RayLog) => void>();
  const stop = new AbortController();
  let running = false;

  const readOnce = (): Promise<void> =>
    new Promise((resolve) => {
      const stream = channel.stream(LOGSTREAM, { client_id: clientId });
      const cancel = (): void => stream.cancel();
      stop.signal.addEventListener('abort', cancel, { once: true });
      const over = (): void => {
        stop.signal.removeEventListener('abort', cancel);
        resolve();
      };
      stream.on('data', (data) => {
        const log = toLog(data);
        if (log !== undefined) for (const listener of listeners) listener(log);
      });
      stream.on('error', over);
      stream.on('end', over);
      stream.write({ enabled: true, loglevel: INFO });
    });

  const run = async (): Promise<void> => {
    while (!stop.signal.aborted) {
      await readOnce();
      await sleep(REOPEN_DELAY_MS, undefined, { signal: stop.signal, ref: false }).catch(() => {});
    }
  };

  return {
    subscribe(listener) {
      listeners.add(listener);
      if (!running) {
        running = true;
        void run();
      }
      return () => listeners.delete(listener);
    },
    close: () => stop.abort(),
  };
}

/** A log from its wire form; undefined for the empty ones that the server sends now and then. */
export function toLog({ msg, level }: LogData): RayLog | undefined {
  const text = stripVTControlCharacters(msg ?? '').replace(/\n$/, '');
  if (text === '') return undefined;
  if (level === -1) return { kind: 'stdout', level: undefined, text };
  if (level === -2) return { kind: 'stderr', level: undefined, text };
  return { kind: 'ray', level: level ?? 0, text };
}
