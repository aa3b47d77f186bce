import type { Redis } from 'ioredis';
import type { Archive } from './archive/archive.ts';
import type { ArchiveReader } from './archive/archive-reader.ts';
import type { Keys } from './redis/keys.ts';
import type { RunScript } from './redis/scripts.ts';
import type { WakeHub } from './redis/wake-hub.ts';

/** The default limits of the store. */
export const DEFAULT_STORE_LIMITS = {
  /** A batch part up to this size is stored in its stream entry, a longer one in the archive. */
  inlineBytes: 64 * 1024,
  /** MAX metric names in an experiment's progress; further ones are only in its events. */
  metricNames: 1000,
  /** MAX events in one append, and MAX bytes of their payload. */
  appendEvents: 128,
  appendBytes: 1024 * 1024,
  /** MAX entries of one read. */
  pageEntries: 128,
  /** The store accepts new work while used memory is at most this share of `maxmemory`. */
  acceptShare: 0.7,
  /** The share of `maxmemory` that a project may store if it has no quota of its own: it leaves room for others. */
  projectShare: 0.5,
  /** MAX queued experiments of one project, so that one project cannot fill the store. */
  queuedOfProject: 20_000,
  /** MAX open external runs of one project. */
  runsOfProject: 200,
  /** MAX audit entries of one caller without administrator rights. */
  auditOfCaller: 10_000,
  /** MAX stored answers to requests with an Idempotency-Key of one caller, and MAX bytes of these. */
  answersOfCaller: 2000,
  answerBytesOfCaller: 8 * 1024 * 1024,
  /** Bytes of a running experiment's stream that stay in Redis when older entries move to the archive. */
  liveBytes: 8 * 1024 * 1024,
  /** MAX bytes of that stream: further events are accepted after older entries have moved to the archive. */
  maxLiveBytes: 32 * 1024 * 1024,
  /** A follower polls after this time, in case a wake-up was lost. */
  followPollMs: 10_000,
  /** MAX age of the measured memory when an experiment is accepted. */
  pressureMaxAgeMs: 250,
};
export type StoreLimits = typeof DEFAULT_STORE_LIMITS;

/** The dependencies of all parts of the store. */
export interface StoreContext {
  redis: Redis;
  keys: Keys;
  run: RunScript;
  archive: Archive;
  /** Reads archived streams. */
  archived: ArchiveReader;
  hub: WakeHub;
  limits: StoreLimits;
  /** The installation that this process belongs to; null before the store is bound to it. */
  installation: string | null;
}
