import { BatchFormatError } from 'echelon-verify/format';
import { VerifierBusyError } from 'echelon-verify/pool';
import { EchelonError } from '../../core/errors.ts';
import type { ControllerEvent } from '../../core/events.ts';
import { retryUntil } from '../../core/retry.ts';
import { archiveUnavailable } from '../../store/archive/archive-keys.ts';
import { type StoredReport, unverifiableReport } from '../../store/batches/stored-report.ts';
import type { BatchRecord } from '../../store/batches/types.ts';
import type { Store } from '../../store/store.ts';
import type { Log } from '../log.ts';
import { createLoop, type Loop } from '../loop.ts';
import { type BatchLeases, createBatchLeases } from './batch-leases.ts';

type VerificationEvent = Extract<ControllerEvent, { type: 'verification' }>;

/** Recomputes a serialized batch in another process. */
export interface BatchVerifier {
  verify(wire: Uint8Array, signal?: AbortSignal): Promise<StoredReport>;
}

/** A batch whose verification ended its process or the dispatcher so often is unverifiable. */
const MAX_TRIES = 3;

/** The event that announces a report. */
export function toVerificationEvent(record: BatchRecord, report: StoredReport): VerificationEvent {
  const errors = report.findings.filter((finding) => finding.severity === 'error');
  return {
    type: 'verification',
    attempt: record.attempt,
    batch: record.batch,
    step: record.step,
    rows: report.rows,
    exact: report.exact,
    rounding: report.rounding,
    wrong: report.wrong,
    unverifiable: report.unverifiable,
    errors: [...new Set(errors.map((finding) => finding.code))],
    ok: report.ok,
  };
}

/**
 * Whether the archive answers wrongly: an object that the store knows is missing, or bytes do not have their digest. A bucket
 * may do so for a while, so the batch is not to blame at first.
 */
function isArchiveWrong(error: unknown): boolean {
  return error instanceof EchelonError && ['not-found', 'not-verifiable'].includes(error.code);
}

/** Whether the store or the archive may answer later, or a verifier start later: the batch stays pending without a report. */
function isForLater(error: unknown): boolean {
  return (
    error instanceof VerifierBusyError ||
    (error instanceof EchelonError && error.code === 'store-unavailable')
  );
}

/** The services and settings of verification. */
interface VerificationDeps {
  store: Pick<Store, 'batches'>;
  verifier: BatchVerifier;
  /** Names this process. */
  holder: string;
  /** Maximum number of batches at the same time. */
  concurrency: number;
  /** After this time, another process may take a batch whose process died. */
  leaseMs: number;
  everyMs: number;
  /** How long missing or damaged bytes of a batch are read again before its rows are unverifiable. Default: 2 minutes. */
  doubtMs?: number | undefined;
  /** Waits between retries to store a report if the store does not answer. */
  retry?: { firstMs: number; longestMs: number };
  log: Log;
}

/**
 * Takes pending batches from the store, verifies them and stores their reports. A batch that cannot be verified gets a
 * report that states so, and is not taken again. After a process died during the verification of a batch, that batch is
 * verified alone, so that no other batch is charged if it happens again.
 */
export function createVerification(deps: VerificationDeps): Loop & { active(): number } {
  const { concurrency, everyMs, log } = deps;
  const leases = createBatchLeases(deps);
  const active = new Set<Promise<void>>();
  /** Batches to be verified alone. */
  const suspects: BatchRecord[] = [];
  let alone = false;
  const stopping = new AbortController();

  const loop = createLoop({ name: 'verification', everyMs, log, run: round });

  async function round(): Promise<void> {
    await leases.settle();
    const room = concurrency - active.size;
    if (!alone && suspects.length === 0 && room > 0) {
      for (const record of await leases.take(room)) {
        if ((record.deaths ?? 0) === 0) start(record);
        else suspects.push(record);
      }
    }
    if (active.size > 0) return;
    const suspect = suspects.shift();
    if (suspect === undefined) return;
    alone = true;
    start(suspect);
  }

  function start(record: BatchRecord): void {
    const work = verify(deps, leases, record, stopping.signal).finally(() => {
      active.delete(work);
      alone = false;
      // Takes the next batches at once, so that a backlog does not wait for the next round.
      loop.poke();
    });
    active.add(work);
  }

  return {
    start() {
      leases.renewal.start();
      loop.start();
    },
    poke: loop.poke,
    active: () => active.size,
    async stop() {
      stopping.abort();
      // A batch whose verification this stop interrupts is not charged with a death.
      await Promise.all([leases.close(), leases.renewal.stop(), loop.stop()]);
      await Promise.all(active);
    },
  };
}

/** Never throws: a batch without a report stays pending and is taken again. */
async function verify(
  deps: VerificationDeps,
  leases: BatchLeases,
  record: BatchRecord,
  stopping: AbortSignal,
): Promise<void> {
  const { experiment, batch } = record;
  try {
    const report = await reportOf(deps, leases, record);
    if (report !== null) await storeReport(deps, record, report, stopping);
    leases.done(record);
  } catch (error) {
    deps.log.warn({ experiment, batch, err: error }, 'no report stored');
    // A failure here is not the batch's fault.
    await leases.giveBack(record);
  }
}

/** Returns null if the batch needs no report any more. */
async function reportOf(
  deps: VerificationDeps,
  leases: BatchLeases,
  record: BatchRecord,
): Promise<StoredReport | null> {
  const { deaths = 0 } = record;
  if (deaths >= MAX_TRIES)
    return unverifiableReport(record, new Error(`its verifier ended without a report ${deaths} times`));
  try {
    return await recompute(deps, leases, record);
  } catch (error) {
    if (isForLater(error)) throw error;
    const { experiment, attempt, batch } = record;
    deps.log.warn({ experiment, attempt, batch, err: error }, 'a batch could not be verified');
    return unverifiableReport(record, error);
  }
}

/** A format error is final. A batch whose process was killed from outside is tried again. */
async function recompute(
  { store, verifier, log }: VerificationDeps,
  leases: BatchLeases,
  record: BatchRecord,
): Promise<StoredReport | null> {
  for (let tries = 1; ; tries += 1) {
    const wire = await store.batches.bytes(record).catch((error: unknown) => {
      if (!isArchiveWrong(error) || !leases.mayWait(record)) throw error;
      throw archiveUnavailable(error);
    });
    if (tries === 1 && !(await leases.begin(record))) return null;
    try {
      return await verifier.verify(wire);
    } catch (error) {
      if (error instanceof BatchFormatError || isForLater(error)) throw error;
      const message = error instanceof Error ? error.message : String(error);
      if (tries >= MAX_TRIES) throw new Error(`verifying it failed ${tries} times: ${message}`);
      const { experiment, batch } = record;
      log.warn({ experiment, batch, err: error }, 'verifying a batch failed');
    }
  }
}

/** Retries until the store has the report, or this process stops. */
async function storeReport(
  { store, log, retry = { firstMs: 100, longestMs: 3_000 } }: VerificationDeps,
  record: BatchRecord,
  report: StoredReport,
  stopping: AbortSignal,
): Promise<void> {
  await retryUntil(() => store.batches.report(record, toVerificationEvent(record, report), report), {
    waits: retry,
    signal: stopping,
    shouldRetry(error) {
      if (!isForLater(error) || stopping.aborted) return false;
      const { experiment, batch } = record;
      log.warn({ experiment, batch, err: error }, 'a report waits for the store');
      return true;
    },
  });
}
