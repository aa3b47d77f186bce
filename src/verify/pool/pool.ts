/**
 * Verification on worker threads, so that it blocks no event loop: cancellable, and within a budget of time and
 * memory. A batch over its budget is unverifiable, not fatal.
 */

import { fileURLToPath } from 'node:url';
// A namespace, since Node 20 does not export isMarkedAsUntransferable: an import by name would keep the module from loading.
import * as workerThreads from 'node:worker_threads';
import { Piscina } from 'piscina';
import type { RowExplanation } from '../explain/explain.ts';
import type { RowQuery } from '../explain/row-columns.ts';
import type { BundleOrigin } from '../format/bundle.ts';
import { BatchFormatError } from '../format/format-error.ts';
import { readWireHeader, type WireHeader } from '../format/wire-header.ts';
import type { BatchReport } from '../report.ts';
import { unverifiedReport } from '../verify-batch.ts';
import { bytesInWords } from './budget.ts';
import type { PoolAnswer, PoolTask } from './pool-thread.ts';
import type { FileReport, FileTask } from './verify-upload.ts';

export interface VerifierPoolOptions {
  /** Worker threads; as many batches are verified at a time. */
  readonly threads: number;
  /** Time that one batch may take on its thread. */
  readonly budgetMs: number;
  /** Memory that one batch may take on its thread. */
  readonly budgetBytes: number;
}

/** A file to verify, and what is stated of it. */
export type UploadedFile = Omit<FileTask, 'budgetBytes'>;

export interface VerifierPool {
  /**
   * Verifies a protobuf batch. The bytes are handed over without a copy if they own their buffer: they are
   * detached then. Over budget: a report with all rows unverifiable and the finding `budget-exceeded`.
   * Rejects with a BatchFormatError for bytes that are no batch, and with the signal's reason once it aborts.
   */
  verify(wire: Uint8Array, signal?: AbortSignal): Promise<BatchReport>;
  /**
   * Explains a row of a protobuf batch, handed over likewise. Rejects with a BatchFormatError, with a RangeError
   * if there is no such row or the budget is exceeded, and with the signal's reason once it aborts.
   */
  explain(wire: Uint8Array, row: number, signal?: AbortSignal): Promise<RowExplanation>;
  /** Rows of a protobuf batch as the JSON text of `RowColumns`, handed over and refused likewise. */
  rows(wire: Uint8Array, query: RowQuery, signal?: AbortSignal): Promise<Uint8Array>;
  /** Writes a protobuf batch as a bundle (see bundle.ts), handed over and refused likewise. */
  bundle(wire: Uint8Array, origin: BundleOrigin, signal?: AbortSignal): Promise<Uint8Array>;
  /**
   * Verifies a file in any format that `echelon verify` reads. Rejects with a BatchFormatError for a file that cannot be read
   * or exceeds a limit, with a RangeError for options that do not fit it, and with the signal's reason once it aborts.
   */
  verifyFile(file: UploadedFile, signal?: AbortSignal): Promise<FileReport[]>;
  /** Ends the threads; what is running is given up. Safe to call twice. */
  close(): Promise<void>;
}

/** Fingerprint in the report of a batch that was given up before it was decoded. */
const UNKNOWN_FINGERPRINT = 'unknown';

/** A batch in memory takes its message and its columns. */
const DECODED_SHARE = 2;

const OUT_OF_MEMORY = 'ERR_WORKER_OUT_OF_MEMORY';

/** Runs tasks on threads, as many at a time as there are threads. */
function startThreads({ threads, budgetMs, budgetBytes }: VerifierPoolOptions) {
  const extension = import.meta.url.endsWith('.ts') ? 'ts' : 'js';
  const pool = new Piscina({
    filename: fileURLToPath(new URL(`./pool-thread.${extension}`, import.meta.url)),
    minThreads: 0,
    maxThreads: threads,
    idleTimeout: 10_000,
    resourceLimits: { maxOldGenerationSizeMb: Math.max(64, Math.ceil(budgetBytes / 2 ** 20)) },
  });
  const turns = createTurns(threads);

  async function run<T>(
    name: string,
    task: PoolTask | FileTask,
    signal?: AbortSignal,
  ): Promise<T | 'over-budget'> {
    await turns.enter(signal);
    const timeout = AbortSignal.timeout(budgetMs);
    try {
      const both = signal === undefined ? timeout : AbortSignal.any([timeout, signal]);
      const transferList = 'wire' in task ? [task.wire.buffer as ArrayBuffer] : [];
      const answer: PoolAnswer<T> = await pool.run(task, { name, signal: both, transferList });
      return unwrap(answer);
    } catch (error) {
      signal?.throwIfAborted();
      if (timeout.aborted || (error as NodeJS.ErrnoException).code === OUT_OF_MEMORY) return 'over-budget';
      throw error;
    } finally {
      turns.leave();
    }
  }
  return { run, close: () => pool.destroy() };
}

/** Starts a pool. Threads start with the first tasks. Call `close` when done. */
export function createVerifierPool(options: VerifierPoolOptions): VerifierPool {
  const { budgetMs, budgetBytes } = options;
  const { run, close } = startThreads(options);

  async function answered<T>(
    name: string,
    wire: Uint8Array,
    asked: Partial<PoolTask>,
    signal?: AbortSignal,
  ): Promise<T> {
    const made = await run<T>(name, { wire: owned(wire), budgetBytes, ...asked }, signal);
    if (made === 'over-budget') throw new RangeError(`it takes more than ${budgetMs} ms`);
    return made;
  }

  return {
    async verify(wire, signal) {
      const header = readWireHeader(wire);
      if (wire.byteLength * DECODED_SHARE > budgetBytes) return givenUp(header, options);
      const report = await run<BatchReport>('verify', { wire: owned(wire), budgetBytes }, signal);
      return report === 'over-budget' ? givenUp(header, options) : report;
    },
    explain: (wire, row, signal) => answered('explain', wire, { row }, signal),
    rows: (wire, query, signal) => answered('rows', wire, { query }, signal),
    bundle: (wire, origin, signal) => answered('bundle', wire, { origin }, signal),
    async verifyFile(file, signal) {
      const reports = await run<FileReport[]>('verifyFile', { ...file, budgetBytes }, signal);
      if (reports !== 'over-budget') return reports;
      const expected = `a file whose verification takes at most ${budgetMs / 1000} s and ${bytesInWords(budgetBytes)} of memory`;
      throw new BatchFormatError({ code: 'too-large', file: file.name, expected });
    },
    close,
  };
}

function givenUp({ name, rows }: WireHeader, { budgetMs, budgetBytes }: VerifierPoolOptions): BatchReport {
  const reason = `Given up: it takes more than ${budgetMs / 1000} s, or more than ${bytesInWords(budgetBytes)} of memory.`;
  return unverifiedReport({ name, rows, fingerprint: UNKNOWN_FINGERPRINT }, reason);
}

function unwrap<T>(answer: PoolAnswer<T>): T {
  if ('value' in answer) return answer.value;
  if ('fault' in answer) throw new BatchFormatError(answer.fault);
  throw new RangeError(answer.outOfRange);
}

/**
 * What can be handed over: bytes that own their buffer. A view on part of one (Node's small Buffers share theirs) and
 * shared memory are copied once.
 */
function owned(wire: Uint8Array): Uint8Array {
  const { buffer } = wire;
  const whole = buffer instanceof ArrayBuffer && wire.byteLength === buffer.byteLength;
  const marked = workerThreads.isMarkedAsUntransferable?.(buffer) ?? false;
  return whole && !marked ? wire : new Uint8Array(wire);
}

/**
 * Lets in as many tasks as there are threads, first come first served, so that a task's time starts with its work
 * and not with its waiting.
 */
function createTurns(places: number): { enter(signal?: AbortSignal): Promise<void>; leave(): void } {
  let free = places;
  const waiting: { admit: () => void }[] = [];
  return {
    async enter(signal) {
      signal?.throwIfAborted();
      if (free > 0) {
        free--;
        return;
      }
      await new Promise<void>((resolve, reject) => {
        const entry = {
          admit: () => {
            signal?.removeEventListener('abort', abort);
            resolve();
          },
        };
        const abort = (): void => {
          const at = waiting.indexOf(entry);
          if (at >= 0) waiting.splice(at, 1);
          reject(signal?.reason);
        };
        waiting.push(entry);
        signal?.addEventListener('abort', abort, { once: true });
      });
    },
    leave() {
      const next = waiting.shift();
      if (next === undefined) free++;
      else next.admit();
    },
  };
}
