import type { Redis } from 'ioredis';
import type { Archive } from '../archive/archive.ts';
import type { ArchiveReader } from '../archive/archive-reader.ts';
import type { Keys } from './keys.ts';
import type { RunScript } from './scripts.ts';
import type { WakeHub } from './wake-hub.ts';

/** Limits of the store; {@link DEFAULT_STORE_LIMITS} has the defaults. */
export interface StoreLimits {
  /** A batch part up to this size is stored in its stream entry, a longer one in the archive. */
  inlineBytes: number;
  /** MAX metric names in an experiment's progress; further ones are only in its events. */
  metricNames: number;
  /** MAX events in one append, and MAX bytes of their payload. */
  appendEvents: number;
  appendBytes: number;
  /** MAX entries of one read. */
  pageEntries: number;
  /** The store accepts new work while used memory is at most this share of `maxmemory`. */
  acceptShare: number;
  /** The share of `maxmemory` that a project may store if it has no quota of its own: it leaves room for others. */
  projectShare: number;
  /** MAX queued experiments of one project, so that one project cannot fill the store. */
  queuedOfProject: number;
  /** MAX open external runs of one project. */
  runsOfProject: number;
  /** MAX audit entries of one caller without administrator rights. */
  auditOfCaller: number;
  /** MAX stored answers to requests with an Idempotency-Key of one caller, and MAX bytes of these. */
  answersOfCaller: number;
  answerBytesOfCaller: number;
  /** Bytes of a running experiment's stream that stay in Redis when older entries move to the archive. */
  liveBytes: number;
  /** MAX bytes of that stream: further events are accepted after older entries have moved to the archive. */
  maxLiveBytes: number;
  /** A follower polls after this time, in case a wake-up was lost. */
  followPollMs: number;
  /** MAX age of the measured memory when an experiment is accepted. */
  pressureMaxAgeMs: number;
}

/** See {@link StoreLimits}. */
export const DEFAULT_STORE_LIMITS: StoreLimits = {
  inlineBytes: 64 * 1024,
  metricNames: 1000,
  appendEvents: 128,
  appendBytes: 1024 * 1024,
  pageEntries: 128,
  acceptShare: 0.7,
  projectShare: 0.5,
  queuedOfProject: 20_000,
  runsOfProject: 200,
  auditOfCaller: 10_000,
  answersOfCaller: 2000,
  answerBytesOfCaller: 8 * 1024 * 1024,
  liveBytes: 8 * 1024 * 1024,
  maxLiveBytes: 32 * 1024 * 1024,
  followPollMs: 10_000,
  pressureMaxAgeMs: 250,
};

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
