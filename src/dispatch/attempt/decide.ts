import { withoutControls } from 'command-kit/colors';
import type { EndCause, Ended } from '../../core/events.ts';
import type { AllocatedNode } from '../../core/launch-plan.ts';
import { QUARANTINE_AFTER } from '../../core/states.ts';
import type { MemorySettings } from '../../engines/engine.ts';
import { findEngine } from '../../engines/registry.ts';
import type { Attempt, EndDecision } from '../../store/attempts/types.ts';

/**
 * What an end with some cause leads to. `program` and `cluster`: whose fault it is; another attempt follows while the limit of
 * such faults allows. `free`: another attempt in any case.
 */
interface CauseRule {
  words: string;
  again: Fault | 'free' | 'never';
  /** Whether the next attempt waits a while. */
  waits: boolean;
}

/** Whose fault ended an attempt that may be tried again. The two have separate counts, limits and waits. */
export type Fault = 'program' | 'cluster';

/**
 * Every cause of an attempt's end, and whether another attempt follows; docs/guides/runs.md has the same table. No attempt
 * follows if it would end in the same way: after an error of the training itself, or a lack of memory or disk space.
 */
export const CAUSE_RULES: Readonly<Record<EndCause, CauseRule>> = {
  succeeded: { words: 'the driver ended by itself, successfully', again: 'never', waits: false },
  failed: { words: 'the driver failed', again: 'never', waits: false },
  stopped: { words: 'the driver was stopped', again: 'free', waits: false },
  killed: { words: 'the driver was killed by a signal that was not ours', again: 'program', waits: true },
  'out-of-memory': { words: 'the driver was killed for memory', again: 'never', waits: false },
  'supervisor-lost': { words: "the attempt's supervisor was lost", again: 'program', waits: true },
  'not-started': { words: 'the driver could not be started', again: 'cluster', waits: true },
  'node-lost': { words: 'the attempt is gone from the cluster', again: 'cluster', waits: true },
  'cluster-failed': { words: 'a part of the cluster failed', again: 'cluster', waits: true },
  'gpus-short': { words: 'the cluster had too few free GPUs', again: 'free', waits: true },
  'disk-full': { words: 'a disk was full', again: 'never', waits: false },
  'allocation-ended': { words: 'the Slurm job of its node ended', again: 'free', waits: false },
  preempted: { words: 'Slurm preempted the job of its node', again: 'free', waits: false },
};

/** How long the next attempt waits after a lost attempt; the wait doubles with each of its kind. */
const RETRY_WAIT = {
  program: { firstMs: 5_000, longestMs: 300_000 },
  cluster: { firstMs: 10_000, longestMs: 600_000 },
} as const;

/** How a driver ended, in one sentence; after a failure, with the line of its output that states the reason. */
export function endInWords({ cause, exitCode, signal, message, lastLines }: Ended): string {
  // "exit code 0" would add nothing.
  if (cause === 'succeeded') return CAUSE_RULES[cause].words;
  const code = exitCode === 0 ? '' : ` (exit code ${exitCode})`;
  const number = signal > 0 ? ` (signal ${signal})` : code;
  const said = message
    .replace(NUMBER_FIRST, '')
    .replace(NUMBER_LAST, '')
    .replace(/^stopped: /, '');
  const why = said === '' && cause === 'failed' ? errorLine(lastLines) : said;
  return `${CAUSE_RULES[cause].words}${number}${why === '' ? '' : `: ${why}`}`;
}

// The ray-worker's message may begin or end with the number that the sentence already has.
const NUMBER_FIRST = /^(?:exit code \d+|signal \d+(?: \(\w+\))?)(?:: |$)/;
const NUMBER_LAST = / \((?:exit code \d+|signal \d+(?: \(\w+\))?)\)$/;

const LONGEST_LINE = 300;

/** Remarks of the driver on its work, other than on the cause of a failure. */
const REMARK = /^echelon: (?!likely cause)/;

/** The last line that looks like an error, else the last one that says anything; remarks of the driver come last. */
function errorLine(printed: readonly string[]): string {
  const lines = printed.map(withoutControls).filter((line) => line.trim() !== '');
  const error = lines.findLast((line) => /^\S*(?:error|exception)\b/i.test(line));
  const line = error ?? lines.findLast((one) => !REMARK.test(one)) ?? lines.at(-1) ?? '';
  return line.trim().slice(0, LONGEST_LINE);
}

/** The circumstances that decide what an end leads to. */
interface Circumstances {
  attempt: number;
  /** What the spec allows: attempts that a fault of the program may end, the last one included. */
  maxAttempts: number;
  /** Faults of the cluster after which another attempt follows. */
  maxClusterFaults: number;
  /** Earlier attempts by the fault that ended them. Default: none. */
  faults?: Readonly<Record<Fault, number>>;
  cancelling: boolean;
  engine?: string;
  /** Why the dispatcher stopped the attempt (its timeout, its deadline), in words; null: it did not. */
  limitReached?: string | null;
  /** Why the experiment is in quarantine, in words; null: it is not. */
  quarantine?: string | null;
  /** Earlier attempts whose supervisors were lost. */
  supervisorsLost?: number;
  /** The nodes of the attempt. */
  nodes?: readonly AllocatedNode[];
  wait?: { firstMs: number; longestMs: number };
  /** With a store, the next attempt may resume on any cluster. */
  spec?: { checkpointStore?: unknown };
}

/**
 * Decides what an attempt's end leads to. A cancelled experiment is `cancelled` however its driver ended. An experiment
 * that reached a limit or is in quarantine has failed, unless its driver succeeded. After a stop without a cancel (its
 * machine was shut down), it continues with its next attempt, and the stopped one is not counted. For the rest see
 * {@link CAUSE_RULES}.
 */
export function decide(ended: Ended, known: Circumstances): EndDecision {
  const { attempt, cancelling, faults = { program: 0, cluster: 0 } } = known;
  const { limitReached = null, quarantine = null } = known;
  const words = endInWords(ended);
  if (cancelling) return { to: 'cancelled', reason: `cancelled; ${words}` };
  if (ended.cause === 'succeeded')
    return { to: 'succeeded', reason: quarantine === null ? words : `${words}; ${quarantine}` };
  if (quarantine !== null)
    return { to: 'failed', quarantined: true, reason: `${limitReached ?? quarantine}; ${words}` };
  if (limitReached !== null) return { to: 'failed', reason: `${limitReached}; ${words}` };
  const lost = (known.supervisorsLost ?? 0) + 1;
  if (ended.cause === 'supervisor-lost' && lost >= QUARANTINE_AFTER)
    return {
      to: 'failed',
      quarantined: true,
      reason: `quarantined after ${lost} crashes: the supervisor was lost in ${lost} attempts, last in attempt ${attempt}; ${words}`,
    };
  const rule = CAUSE_RULES[ended.cause];
  const portable = known.spec?.checkpointStore ? { portable: true as const } : {};
  if (rule.again === 'never') return { to: 'failed', reason: withAdvice(words, ended, known.engine) };
  if (rule.again === 'free') {
    const before = attempt - 1 - faults.program - faults.cluster;
    const waitMs = rule.waits ? waitBefore(before + 1, known.wait ?? RETRY_WAIT.cluster) : 0;
    const reason = `${words}; the next attempt follows${inWords(waitMs)}`;
    return {
      to: 'queued',
      ...portable,
      waitMs,
      reason,
      ...(rule.waits && { waitsFor: `${rule.words} for its last attempt` }),
    };
  }
  const count = faults[rule.again] + 1;
  const limit = rule.again === 'program' ? known.maxAttempts : known.maxClusterFaults;
  const counted = `attempt ${attempt}, ${rule.again} fault ${count} of at most ${limit}`;
  const isLast = rule.again === 'program' ? count >= limit : count > limit;
  if (isLast) return { to: 'failed', reason: `${counted}: ${words}` };
  const waitMs = rule.waits ? waitBefore(count, known.wait ?? RETRY_WAIT[rule.again]) : 0;
  const avoid = rule.again === 'cluster' ? (known.nodes ?? []).map(({ id }) => id) : [];
  const waitsFor = `${rule.again} fault ${count} of at most ${limit} ended its last attempt`;
  const reason = `${counted}: ${words}; it will be tried again${inWords(waitMs)}`;
  return { to: 'queued', ...portable, waitMs, waitsFor, reason, ...(avoid.length > 0 && { avoid }) };
}

/**
 * The faults of earlier attempts, counted. An orderly stop, a shortage of GPUs and a hand-over between dispatchers are none. An
 * attempt without a recorded end counts as a fault of the program, so that no experiment is tried without a limit.
 */
export function countFaults(attempts: readonly Pick<Attempt, 'ended'>[]): Record<Fault, number> {
  const faults = { program: 0, cluster: 0 };
  for (const { ended } of attempts) {
    const again = ended === null ? 'program' : CAUSE_RULES[ended.cause].again;
    if (again === 'program' || again === 'cluster') faults[again] += 1;
  }
  return faults;
}

/** The pause after the nth such end, in ms. */
function waitBefore(nth: number, { firstMs, longestMs }: { firstMs: number; longestMs: number }): number {
  return Math.min(longestMs, firstMs * 2 ** (nth - 1));
}

function inWords(waitMs: number): string {
  return waitMs >= 1_000 ? ` in ${Math.round(waitMs / 1_000)} s` : '';
}

function withAdvice(words: string, ended: Ended, engine = ''): string {
  const advice =
    ended.cause === 'disk-full'
      ? DISK_ADVICE
      : ended.cause === 'out-of-memory'
        ? memoryAdvice(engine, ended.message)
        : '';
  return advice === '' ? words : `${words}; ${advice}`;
}

/** The end of an attempt that the ray-worker does not know. */
export function lostAttempt(message: string): Ended {
  return { type: 'ended', cause: 'node-lost', exitCode: 0, signal: 0, message, lastLines: [] };
}

/** The end of an attempt whose launch failed. */
export function notStarted(message: string): Ended {
  return { ...lostAttempt(message), cause: 'not-started' };
}

/** The end of an attempt that was stopped before its launch began. */
export function neverStarted(): Ended {
  return { ...lostAttempt('it had not been launched'), cause: 'stopped' };
}

/** What to do after an attempt found a disk full. */
const DISK_ADVICE =
  'free space on the file system that the last lines name (checkpoints take most of it) or retain fewer checkpoints, and run the experiment again: it resumes from the last complete checkpoint';

/** What to change after an engine ran out of memory; `message`: how the ray-worker said it. Empty: nothing is known. */
export function memoryAdvice(engine: string, message: string): string {
  const { gpu, host } = findEngine(engine)?.memory ?? {};
  const settings = /GPU|CUDA/.test(message) ? (gpu ?? host) : host;
  return settings === undefined ? '' : settingsInWords(settings);
}

function settingsInWords({ lower, set }: MemorySettings): string {
  const switched = set === undefined ? '' : `, or set ${list(set.pointers, 'and')} to ${set.to}`;
  return `lower ${list(lower, 'or')}${switched}`;
}

function list(pointers: readonly string[], word: 'and' | 'or'): string {
  const first = pointers.slice(0, -1).join(', ');
  return first === '' ? pointers.join('') : `${first} ${word} ${pointers.at(-1)}`;
}
