import type { Redis } from 'ioredis';
import type { Archive } from '../archive/archive.ts';
import type { ArchiveReader } from '../archive/archive-reader.ts';
import type { Keys } from './keys.ts';
import type { RunScript } from './scripts.ts';
import type { WakeHub } from './wake-hub.ts';

/** Bounds of the store; every one has a default in {@link DEFAULT_LIMITS}. */
export interface StoreLimits {
  /** A batch part up to this size is kept in its stream entry, a longer one in the archive. */
  inlineBytes: number;
  /** Names of metrics in an experiment's progress; more are only in its events. */
  metricNames: number;
  /** Events in one atomic append, and bytes of their payload. */
  appendEvents: number;
  appendBytes: number;
  /** Entries that one reading step holds in memory. */
  pageEntries: number;
  /** New work is accepted while used memory is at most this share of `maxmemory`. */
  acceptShare: number;
  /** Experiments of one project that may wait at once: one that floods the line leaves the others their room. */
  waitingOfProject: number;
  /** Entries of the audit log that are kept of one caller who is no administrator. */
  auditOfCaller: number;
  /** Answers to requests with an Idempotency-Key that are kept of one caller, and their bytes. */
  answersOfCaller: number;
  answerBytesOfCaller: number;
  /** Of the stream of an experiment that runs so much stays in Redis, and what it reports between two looks at it. */
  liveBytes: number;
  /** A follower looks again after this time, should a wake-up have been lost. */
  followPollMs: number;
  /** How old the store's view of used memory may be when it accepts an experiment. */
  pressureMaxAgeMs: number;
}

/** See {@link StoreLimits}. */
export const DEFAULT_LIMITS: StoreLimits = {
  inlineBytes: 64 * 1024,
  metricNames: 1000,
  appendEvents: 128,
  appendBytes: 1024 * 1024,
  pageEntries: 128,
  acceptShare: 0.7,
  waitingOfProject: 20_000,
  auditOfCaller: 10_000,
  answersOfCaller: 2000,
  answerBytesOfCaller: 8 * 1024 * 1024,
  liveBytes: 8 * 1024 * 1024,
  followPollMs: 10_000,
  pressureMaxAgeMs: 250,
};

/** What the parts of the store share. */
export interface StoreContext {
  redis: Redis;
  keys: Keys;
  run: RunScript;
  archive: Archive;
  /** Streams that are in the archive already. */
  archived: ArchiveReader;
  hub: WakeHub;
  limits: StoreLimits;
}
