import { EchelonError } from '../../core/errors.ts';
import type { ControllerEvent } from '../../core/events.ts';
import type { BatchRecord } from '../../store/batch-store.ts';
import type { Store } from '../../store/store.ts';
import { BatchFormatError } from '../../verify/format-error.ts';
import type { Log } from '../log.ts';
import { createLoop, type Loop } from '../loop.ts';

type VerificationEvent = Extract<ControllerEvent, { type: 'verification' }>;

/** What of the verifier's report the counters and the event need; the whole of it is stored as it is. */
export interface ReportSummary {
  rows: number;
  exact: number;
  rounding: number;
  wrong: number;
  unverifiable: number;
  findings: readonly { code: string; severity: 'error' | 'warning' }[];
  ok: boolean;
}

/** Recomputes one serialized batch, off this thread. */
export interface Verifier {
  verify(wire: Uint8Array, signal?: AbortSignal): Promise<ReportSummary>;
}

/** Tries of a batch whose verification ends its thread, or its process, before it counts as unverifiable. */
const MOST_TRIES = 3;

/** The event that announces a report. */
export function toVerificationEvent(record: BatchRecord, report: ReportSummary): VerificationEvent {
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

/** The report of a batch that could not be read or recomputed: every row is unverifiable, and it says why. */
export function unverifiableReport(record: BatchRecord, error: unknown): ReportSummary {
  const message = error instanceof Error ? error.message : String(error);
  const report = {
    name: `step ${record.step}`,
    rows: record.rows,
    exact: 0,
    rounding: 0,
    wrong: 0,
    unverifiable: record.rows,
    wrongRows: [],
    roundingRows: [],
    findings: [{ code: 'not-verifiable', severity: 'error' as const, rows: [], message }],
    ok: false,
    fingerprint: '',
  };
  return report;
}

/** Whether the batch may be readable later: then it stays pending instead of getting a report. */
function isPassing(error: unknown): boolean {
  return error instanceof EchelonError && error.code === 'store-unavailable';
}

/** What verification needs. */
interface VerificationDeps {
  store: Pick<Store, 'takePending' | 'giveBack' | 'batchBytes' | 'report'>;
  verifier: Verifier;
  /** Batches at a time. */
  concurrency: number;
  /** A batch that was taken by a process that died comes back after this time. */
  leaseMs: number;
  everyMs: number;
  log: Log;
}

/**
 * Takes pending batches from the store, has each verified and stores its report. A batch that cannot be verified gets a
 * report that says so, so that none is taken for ever.
 */
export function createVerification(deps: VerificationDeps): Loop & { active(): number } {
  const { store, concurrency, leaseMs, everyMs, log } = deps;
  const active = new Map<Promise<void>, BatchRecord>();
  const loop = createLoop({
    name: 'verification',
    everyMs,
    log,
    async run() {
      const room = concurrency - active.size;
      if (room <= 0) return;
      const records = await store.takePending(room, leaseMs);
      for (const record of records) {
        const work = verify(deps, record).finally(() => {
          active.delete(work);
          // Each end looks for more, so that a backlog is worked off without waiting for the next time.
          loop.poke();
        });
        active.set(work, record);
      }
    },
  });
  return {
    start: loop.start,
    poke: loop.poke,
    active: () => active.size,
    async stop() {
      await loop.stop();
      // What is not done when this process ends was not ended by its batch.
      const rest = Promise.all([...active.values()].map((record) => store.giveBack(record)));
      await rest.catch((error) => log.warn({ err: error }, 'a batch was not given back'));
      await Promise.all(active.keys());
    },
  };
}

/** Never throws: what gets no report is still pending, and comes back. */
async function verify(deps: VerificationDeps, record: BatchRecord): Promise<void> {
  const { store, log } = deps;
  try {
    const report = await judge(deps, record);
    await store.report(record, toVerificationEvent(record, report), report);
  } catch (error) {
    // That the store was away counts against nobody.
    if (isPassing(error)) await store.giveBack(record).catch(() => {});
    log.warn({ experiment: record.experiment, batch: record.batch, err: error }, 'no report stored');
  }
}

async function judge(deps: VerificationDeps, record: BatchRecord): Promise<ReportSummary> {
  // Taken again and again without a report: whoever took it did not live to write one.
  const taken = record.taken ?? 1;
  if (taken > MOST_TRIES)
    return unverifiableReport(record, new Error(`its verifier ended without a report ${taken - 1} times`));
  try {
    return await recompute(deps, record);
  } catch (error) {
    if (isPassing(error)) throw error;
    const { experiment, attempt, batch } = record;
    deps.log.warn({ experiment, attempt, batch, err: error }, 'a batch could not be verified');
    return unverifiableReport(record, error);
  }
}

/** A verdict on the batch's form is final; a thread that dies on it is given another try. */
async function recompute(
  { store, verifier, log }: VerificationDeps,
  record: BatchRecord,
): Promise<ReportSummary> {
  for (let tries = 1; ; tries += 1) {
    const wire = await store.batchBytes(record);
    try {
      return await verifier.verify(wire);
    } catch (error) {
      if (error instanceof BatchFormatError) throw error;
      const message = error instanceof Error ? error.message : String(error);
      if (tries >= MOST_TRIES) throw new Error(`verifying it failed ${tries} times: ${message}`);
      const { experiment, batch } = record;
      log.warn({ experiment, batch, err: error }, 'verifying a batch failed');
    }
  }
}
