// Every write of a dispatcher, and the faults that interrupt it. Used by the dispatcher processes of fault tests.

import { RayWorkerError } from '../../src/rpc/status.ts';
import { toStoreError } from '../../src/store/redis/errors.ts';
import type { StorePath } from '../../src/store/store.ts';

/** The writes of a dispatcher that a failpoint interrupts: of the store, of the BullMQ queue, and of a ray-worker. */
export const COMMITS = [
  'store.archive.archiveStream',
  'store.archive.take',
  'store.attempts.acquire',
  'store.attempts.allocate',
  'store.attempts.confirm',
  'store.attempts.end',
  'store.attempts.preempt',
  'store.attempts.renew',
  'store.attempts.settle',
  'store.attempts.takeOver',
  'store.batches.beginPending',
  'store.batches.report',
  'store.batches.takePending',
  'store.clusters.see',
  'store.events.append',
  'store.experiments.failOverdue',
  'store.queue.note',
  'store.retention.collectGarbage',
  'store.retention.expire',
  'store.retention.hold',
  'store.rules.advance',
  'store.rules.dropSignals',
  'store.rules.takeSignals',
  'store.sweeps.cancelChildren',
  'store.sweeps.expand',
  'store.sweeps.release',
  'queue.enqueue',
  'queue.release',
  'queue.remove',
  'rayWorker.launch',
  'rayWorker.stop',
] as const;

/** Commits of a dispatcher that takes attempts over from another. */
export const AFTER_DEATH: readonly Commit[] = ['store.attempts.settle', 'store.attempts.takeOver'];

/** See {@link COMMITS}. */
export type Commit = (typeof COMMITS)[number];

/** The store's methods that no failpoint interrupts, with the reason. */
export const NOT_INTERRUPTED = {
  ofBackups: ['retention.pause'],
  reads: [
    'archive.backlog',
    'archive.longStreams',
    'retention.due',
    'retention.dueFigures',
    'retention.holder',
    'retention.forgettingFigures',
    'attempts.allocated',
    'attempts.allocation',
    'attempts.leases',
    'attempts.list',
    'attempts.present',
    'batches.backlog',
    'batches.bytes',
    'batches.get',
    'batches.list',
    'batches.page',
    'clusters.allocations',
    'clusters.list',
    'clusters.now',
    'commands.get',
    'comparisons.runs',
    'comparisons.withEndedRuns',
    'commands.open',
    'commands.project',
    'events.evaluation',
    'events.evaluations',
    'events.follow',
    'events.isOver',
    'events.logPosition',
    'events.page',
    'events.read',
    'events.tail',
    'experiments.artifacts',
    'experiments.checkpointClusters',
    'experiments.counts',
    'experiments.get',
    'experiments.list',
    'experiments.storedCheckpoints',
    'feed.beforeOldest',
    'feed.end',
    'feed.follow',
    'feed.read',
    'metrics.names',
    'metrics.series',
    'queue.first',
    'queue.get',
    'queue.ids',
    'queue.leaving',
    'queue.page',
    'queue.paces',
    'queue.pauses',
    'queue.position',
    'queue.projectVersions',
    'queue.snapshot',
    'queue.states',
    'queue.window',
    'revisions.get',
    'rules.backlog',
    'rules.keptBatches',
    'rules.readSignals',
    'subscriptions.deliveries',
    'subscriptions.due',
    'subscriptions.dueWaits',
    'subscriptions.get',
    'subscriptions.list',
    'subscriptions.subjects',
    'subscriptions.unread',
    'sweeps.children',
    'sweeps.figures',
    'sweeps.get',
    'sweeps.list',
    'sweeps.withWork',
    'usage.read',
    'installation',
    'checkFitness',
    'pressure',
    'clock.read',
    'onWake',
    'close',
  ],
  'writes of the api': [
    'batches.verifyAgain',
    'clusters.ask',
    'clusters.editCordons',
    'clusters.noteFault',
    'clusters.put',
    'clusters.remove',
    'clusters.set',
    'clusters.setDraining',
    'commands.create',
    'experiments.annotate',
    'experiments.cancel',
    'experiments.delete',
    'experiments.submit',
    'queue.setClosed',
    'queue.setPaused',
    'queue.setPriority',
    'runs.hear',
    'runs.open',
    'runs.repeated',
    'subscriptions.add',
    'subscriptions.remove',
    'subscriptions.resend',
    'sweeps.cancel',
    'sweeps.create',
    'sweeps.rerunChildren',
  ],
  'a hint that nothing depends on': ['wake'],
  'only at a hand-over or after a failed verification': [
    'attempts.release',
    'batches.renewPending',
    'batches.returnPending',
  ],
  'test/service/store/runs/runs.test.ts interrupts it': ['runs.takeSilent'],
  'test/service/store/metrics/compaction.test.ts interrupts it': ['metrics.compact', 'metrics.takeDue'],
  'test/service/store/sweeps repeats it': ['sweeps.recordAverage'],
  'test/service/http/resources/comparisons.test.ts repeats it': ['comparisons.recordRuns'],
  'only of streams of megabytes, and of old sweeps; test/service/store/archive repeats them': [
    'archive.rollStream',
    'retention.expireSweeps',
  ],
  'seven days after the end of an experiment; test/service/dispatch/background/forget-experiments.test.ts': [
    'retention.takeForgetting',
    'retention.forgetLater',
    'retention.forgotten',
  ],
  'test/service/dispatch/notifications interrupts them': [
    'clusters.noteSilent',
    'subscriptions.advance',
    'subscriptions.begin',
    'subscriptions.end',
  ],
  'at the start of a process, by its composition': ['bind'],
  'test/service/store/clock repeats it': ['clock.see', 'clock.confirm'],
  'each round with Slurm repeats them': ['clusters.holdSlurm', 'clusters.recordSlurm'],
  'commands on clusters have tests of their own': [
    'commands.claim',
    'commands.end',
    'commands.renew',
    'commands.report',
  ],
} as const;

type Listed = Extract<(typeof COMMITS)[number], `store.${string}`>;
type Left = {
  [Reason in keyof typeof NOT_INTERRUPTED]: (typeof NOT_INTERRUPTED)[Reason][number];
}[keyof typeof NOT_INTERRUPTED];
/** Aggregates that only the api writes. */
type OfApi = `${'access' | 'answers' | 'audit' | 'projects'}.${string}`;
type Forgotten = Exclude<StorePath, Left | OfApi | (Listed extends `store.${infer Path}` ? Path : never)>;

/** Does not compile if a method of the store is in neither list. */
export const FORGOTTEN: [Forgotten] extends [never] ? null : Forgotten = null;

/**
 * What happens at a commit, once in a process. killed: SIGKILL before or after it. frozen: SIGSTOP before it, so that it is
 * made when another dispatcher has taken over. answer lost: it is made, and its caller gets an error as of a lost connection.
 */
export const FAULTS = ['killed before', 'killed after', 'frozen before', 'answer lost'] as const;
/** See {@link FAULTS}. */
export type Fault = (typeof FAULTS)[number];

/** A fault at the first commit of this kind of a process; after it: at the first that changed something. */
export interface Failpoint {
  readonly commit: Commit;
  readonly fault: Fault;
}

type Around = <R>(call: () => Promise<R>) => Promise<R | undefined>;

/**
 * Nested decorators with the failpoint, for `decorate` on `{ store, queue, rayWorker }`. `hit` is called before the process
 * is killed or frozen, or before the caller gets the error.
 */
export function decoratorsOf({ commit, fault }: Failpoint, hit: () => void): Record<string, object> {
  const path = commit.split('.');
  const nested = path.reduceRight<object>((inner, name) => ({ [name]: inner }), around(commit, fault, hit));
  return nested as Record<string, object>;
}

function around(commit: Commit, fault: Fault, hit: () => void): Around {
  let armed = true;
  const end = (signal: 'SIGKILL' | 'SIGSTOP') => {
    hit();
    process.kill(process.pid, signal);
  };
  return async (call) => {
    if (armed && fault === 'killed before') end('SIGKILL');
    if (armed && fault === 'frozen before') {
      armed = false;
      end('SIGSTOP');
    }
    const result = await call().catch(madeIfGivenUp);
    if (!armed || !hadEffect(result)) return result;
    armed = false;
    if (fault === 'killed after') end('SIGKILL');
    hit();
    throw commit.startsWith('rayWorker.')
      ? new RayWorkerError('unreachable', 'the answer is lost')
      : toStoreError(new Error('the answer is lost'));
  };
}

/**
 * The end of a driver may arrive before the answer to its stop, and its dispatcher then gives up the answer. The stop was made all
 * the same.
 */
function madeIfGivenUp(error: unknown): undefined {
  if (!(error instanceof RayWorkerError && error.fault === 'aborted')) throw error;
}

/** A call that took or changed nothing, in a round without work, is no commit. */
function hadEffect(result: unknown): boolean {
  if (result === 0 || result === 'waiting' || result === 'gone') return false;
  if (typeof result !== 'object' || result === null) return true;
  const lists = (Array.isArray(result) ? [result] : Object.values(result)).filter(Array.isArray);
  return lists.length === 0 || lists.some((list) => list.length > 0);
}
