import { isComing } from '../../../scheduler/slurm-words.ts';
import type { SlurmJob, SlurmPlace, SlurmState } from '../../../store/clusters/types.ts';
import type { ListedJob, SlurmError } from './commands.ts';

/*
 * What a round with Slurm does, as a pure choice. The queue stays Echelon's: Slurm is asked for nodes as an autoscaler is, one
 * job for each, and for one small job that has the head of the Ray.
 */

/** A node of the Ray that one of the jobs has brought. */
export interface JoinedNode {
  job: string;
  /** Its id in Ray. */
  node: string;
  /** Whether an experiment has a part of it. */
  busy: boolean;
}

/** Ended jobs are remembered so long: an attempt that ended with its node asks why. */
const REMEMBERED_MS = 3_600_000;
/** How long Slurm may take to list a job that it was asked for. */
const UNLISTED_MS = 60_000;
/** How long a job may run before its Ray is there. */
const JOINS_WITHIN_MS = 300_000;
/** Why a job is cancelled that runs without a Ray. It has failed, as one that ended by itself. */
const NO_RAY = 'its Ray did not start';
/** Two failures within this time begin a wait, which doubles up to {@link LONGEST_WAIT_MS} with each further one. */
const FIRST_WAIT_MS = 300_000;
const LONGEST_WAIT_MS = 1_200_000;
const LIVE = new Set([
  'asked',
  'PENDING',
  'CONFIGURING',
  'RUNNING',
  'COMPLETING',
  'SUSPENDED',
  'RESIZING',
  'REQUEUED',
]);

/** Whether a job waits, runs, or was asked for. */
export const isLive = ({ endedAt }: SlurmJob): boolean => endedAt === null;

/** The comment by which a job is known as a request of this installation. */
export const commentOf = (installation: string, { request }: Pick<SlurmJob, 'request'>): string =>
  `${installation}/${request}`;

/**
 * The jobs after Slurm's answer. `failed`: those that ended without having brought a node, unless they were cancelled here for
 * another reason than that.
 */
export function seenJobs(
  jobs: readonly SlurmJob[],
  listed: readonly ListedJob[],
  { installation, joined, now }: { installation: string; joined: readonly JoinedNode[]; now: number },
): { jobs: SlurmJob[]; failed: SlurmJob[] } {
  const failed: SlurmJob[] = [];
  const seen = jobs.flatMap((before): SlurmJob[] => {
    if (!isLive(before)) return now - before.endedAt! < REMEMBERED_MS ? [before] : [];
    const answer = listed.find(({ comment }) => comment === commentOf(installation, before));
    if (answer === undefined) {
      if (before.job === null) return now - before.askedAt < UNLISTED_MS ? [before] : [];
      return [ended({ ...before, state: 'gone' })];
    }
    const { job, state, reason, startsAt, endsAt } = answer;
    const all = joined.filter((one) => one.job === job);
    const node = all.length < before.count ? undefined : all[0];
    const isIdle = node !== undefined && all.every(({ busy }) => !busy);
    const after = {
      ...before,
      ...{ job, state, startsAt, endsAt },
      reason: state === 'PENDING' ? reason : null,
      runningSince: state === 'RUNNING' ? (before.runningSince ?? now) : null,
      // The site may start a job again, under the same id: its former node is gone.
      node: state === 'PENDING' ? null : (node?.node ?? before.node),
      idleSince: isIdle ? (before.idleSince ?? now) : null,
    };
    return [LIVE.has(state) ? after : ended(after)];
  });
  return { jobs: seen, failed };

  function ended(job: SlurmJob): SlurmJob {
    const after = { ...job, endedAt: now, idleSince: null };
    if (job.node === null && (job.cancelled ?? NO_RAY) === NO_RAY) failed.push(after);
    return after;
  }
}

/** What a round asks of Slurm. */
export interface Decision {
  ask: Pick<SlurmJob, 'role' | 'count'>[];
  cancel: { job: SlurmJob; why: string }[];
  /** Until when nothing is asked for, since allocations have failed; null: it may be. */
  waitsUntil: number | null;
}

/** `wanted`: nodes that queued experiments need beside those in use; `gangs`: how many of them belong together, one number for each gang. `head`: host:port of the head's Ray, once it is there. */
export function decideSlurm(
  place: SlurmPlace,
  { jobs, failedAt }: Pick<SlurmState, 'jobs' | 'failedAt'>,
  {
    wanted,
    gangs = [],
    head,
    now,
  }: { wanted: number; gangs?: readonly number[]; head: string | null; now: number },
): Decision {
  const live = jobs.filter(isLive);
  const open = live.filter(({ cancelled }) => cancelled === null);
  const nodes = open.filter(({ role }) => role === 'node');
  const cancel = nodes.flatMap((job) => {
    const why = whyCancelled(job, { head, now, idleMs: place.idleSeconds * 1_000, wanted });
    return why === null ? [] : [{ job, why }];
  });
  const late = open.find((job) => job.role === 'head' && isLate(job, now));
  if (late !== undefined) cancel.push({ job: late, why: NO_RAY });
  const waitsUntil = waitAfter(failedAt, now);
  const coming = nodes.filter((job) => isComing(job) && !cancel.some((one) => one.job === job));
  const { missing, surplus } = missingJobs(coming, sizesOf(wanted, gangs));
  for (const job of surplus) cancel.push({ job, why: 'no queued experiment needs it any more' });
  if (waitsUntil !== null) return { ask: [], cancel, waitsUntil };
  if (!open.some(({ role }) => role === 'head'))
    return { ask: [{ role: 'head', count: 1 }], cancel, waitsUntil };
  let room = place.maxNodes;
  for (const { role, count } of live) if (role === 'node') room -= count;
  const ask: Decision['ask'] = [];
  for (const count of head === null ? [] : missing) {
    if (count > room) continue;
    room -= count;
    ask.push({ role: 'node', count });
  }
  return { ask, cancel, waitsUntil };
}

/** The nodes of each job that is needed: one job for each gang, and one for each other node. */
function sizesOf(wanted: number, gangs: readonly number[]): number[] {
  const inGangs = gangs.reduce((sum, count) => sum + count, 0);
  return [...gangs, ...Array.from({ length: Math.max(0, wanted - inGangs) }, () => 1)];
}

/** The sizes for which no job is coming, and the waiting jobs that nothing needs. A gang needs a job of its own size. */
function missingJobs(coming: readonly SlurmJob[], sizes: readonly number[]) {
  const missing = [...sizes];
  // Jobs that run are on their way, so they are counted before those that can still be cancelled.
  const running = coming.filter(({ state }) => state === 'RUNNING');
  const surplus: SlurmJob[] = [];
  for (const job of [...running, ...coming.filter((one) => !running.includes(one))]) {
    const at = missing.indexOf(job.count);
    if (at !== -1) missing.splice(at, 1);
    else if (job.state !== 'RUNNING') surplus.push(job);
  }
  return { missing, surplus };
}

const isLate = ({ node, runningSince }: SlurmJob, now: number): boolean =>
  node === null && runningSince !== null && now - runningSince > JOINS_WITHIN_MS;

function whyCancelled(
  job: SlurmJob,
  { head, now, idleMs, wanted }: { head: string | null; now: number; idleMs: number; wanted: number },
): string | null {
  if (job.head !== null && head !== null && job.head !== head) return 'its head is gone';
  if (isLate(job, now)) return NO_RAY;
  const isIdle = job.idleSince !== null && now - job.idleSince >= idleMs;
  return isIdle && wanted === 0 ? 'it was idle' : null;
}

const HOST_PORT = /^[A-Za-z0-9.-]{1,253}:\d{1,5}$/;

/** Where the Ray of a head is, from its JOB.json: host:port of Ray and of its client server; null: the text has another form. */
export function rayOfHead(text: string): { head: string; client: string } | null {
  let found: { head?: unknown; client?: unknown } | null;
  try {
    found = JSON.parse(text) as typeof found;
  } catch {
    return null;
  }
  const { head, client } = found ?? {};
  if (typeof head !== 'string' || typeof client !== 'string') return null;
  return HOST_PORT.test(head) && HOST_PORT.test(client) ? { head, client } : null;
}

/** What is wrong after a command of Slurm has failed. `answeredAt`: when Slurm last answered, in ms since 1970. */
export function problemOf(error: SlurmError, answeredAt: number | null, now: number): string {
  const minutes = answeredAt === null ? 0 : Math.floor((now - answeredAt) / 60_000);
  if (error.kind === 'refused' || minutes === 0) return error.message;
  return `Slurm has not answered for ${minutes} min; the jobs are as they were then (${error.message})`;
}

/** Two failures within five minutes begin a wait of 5 minutes; each further one doubles it. */
function waitAfter(failedAt: readonly number[], now: number): number | null {
  const streak = failedAt.filter(
    (at, index) => index > 0 && at - failedAt[index - 1]! < LONGEST_WAIT_MS + FIRST_WAIT_MS,
  );
  if (streak.length === 0) return null;
  const until = failedAt.at(-1)! + Math.min(LONGEST_WAIT_MS, FIRST_WAIT_MS * 2 ** (streak.length - 1));
  return until > now ? until : null;
}
