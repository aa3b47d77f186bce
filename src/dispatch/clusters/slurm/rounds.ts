import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { newRequestId } from '../../../core/ids.ts';
import { JOB_LABEL } from '../../../scheduler/slurm-words.ts';
import type { Cluster, SlurmJob, SlurmPlace, SlurmState } from '../../../store/clusters/types.ts';
import type { Store } from '../../../store/store.ts';
import type { Log } from '../../log.ts';
import { createLoop, type Loop } from '../../loop.ts';
import { type AddRequest, type AddSecret, requestAdd } from '../cluster-commands.ts';
import { type Slurm, SlurmError } from './commands.ts';
import { commentOf, decideSlurm, isLive, type JoinedNode, problemOf, rayOfHead, seenJobs } from './decide.ts';
import { whyNever } from './limits.ts';

/*
 * Rounds with Slurm: one dispatcher at a time asks it for the nodes that queued experiments need, registers the Ray of a head
 * that has come up, and gives idle nodes back.
 *
 * Invariant: a request is recorded before Slurm hears of it, and carries the installation and its id in the job's comment. So
 * a dispatcher that takes over finds every job again, and no other job is ever touched.
 */

/** One `squeue` for all jobs of a cluster in this time, as Slurm's controller serves many users. */
const EVERY_MS = 15_000;
const LEASE_MS = 4 * EVERY_MS;
const MAX_FAILURES = 8;
const SCRIPT = new URL('../../../../deploy/slurm/node.sh', import.meta.url);

interface RoundsDeps {
  store: Store;
  slurm: Slurm;
  dispatcher: string;
  installation: string;
  log: Log;
  /** Default: {@link EVERY_MS}. */
  everyMs?: number | undefined;
}

/** See above. */
export function createSlurmRounds(deps: RoundsDeps): Loop {
  const { store, dispatcher, log, everyMs = EVERY_MS } = deps;
  return createLoop({
    name: 'Slurm',
    everyMs,
    log,
    async run() {
      const clusters = (await store.clusters.list()).filter(({ slurm }) => slurm !== undefined);
      if (clusters.length === 0 || !(await store.clusters.holdSlurm(dispatcher, LEASE_MS))) return;
      await Promise.all(clusters.map((cluster) => round(deps, cluster)));
    },
  });
}

const EMPTY: Omit<SlurmState, 'token'> = {
  jobs: [],
  failedAt: [],
  problem: null,
  waitsUntil: null,
  answeredAt: null,
};

/** The folder of a cluster's notes on the shared file system. */
export const notesOf = ({ sharedRoot }: SlurmPlace, cluster: string): string =>
  `${sharedRoot}/slurm/${cluster}`;

async function round(deps: RoundsDeps, cluster: Cluster): Promise<void> {
  const { store, slurm, installation, dispatcher } = deps;
  const place = cluster.slurm!;
  const now = (await store.clock.read()).time;
  let state: SlurmState = cluster.slurmState ?? { ...EMPTY, token: randomBytes(32).toString('hex') };
  const record = (change: Partial<SlurmState>) => {
    state = { ...state, ...change };
    return store.clusters.recordSlurm(dispatcher, cluster.name, state);
  };
  try {
    const joined = await joinedNodes(store, cluster);
    const listed = await slurm.list(place);
    const { jobs, failed } = seenJobs(state.jobs, listed, { installation, joined, now });
    const before = state.failedAt.filter((at) => at > place.statedAt);
    const failedAt = [...before, ...failed.map(() => now)].slice(-MAX_FAILURES);
    const why = await whyFailed(deps, place, cluster.name, failed);
    // A node that came of a later request ends a streak of failures.
    const last = failedAt.at(-1) ?? Number.POSITIVE_INFINITY;
    const streak = jobs.some(({ node, askedAt }) => node !== null && askedAt > last) ? [] : failedAt;
    const problem = why ?? (streak.length > 0 ? state.problem : null);
    if (!(await record({ jobs, failedAt: streak, answeredAt: now }))) return;
    const head = await register(deps, { cluster, place, state });
    const wanted = cluster.asked?.nodes.reduce((sum, { count }) => sum + count, 0) ?? 0;
    const gangs = cluster.asked?.gangs ?? [];
    const decision = decideSlurm(place, state, { wanted, gangs, head, now });
    const isNodeAsked = decision.ask.some(({ role }) => role === 'node');
    // If sinfo is not answered, sbatch says what it thinks of the request.
    const sizes = isNodeAsked ? await slurm.nodes(place).catch(() => []) : [];
    const never = whyNever(place, sizes);
    await record({ waitsUntil: decision.waitsUntil, problem: never ?? problem });
    for (const { job, why: reason } of decision.cancel)
      await cancel(deps, { place, job, reason, record, state: () => state });
    if (decision.ask.length === 0 || never !== null) return;
    await writeNotes(slurm, cluster, state.token);
    for (const { role, count } of decision.ask)
      await ask(deps, { cluster, place, role, count, head, record, now, state: () => state });
  } catch (error) {
    if (!(error instanceof SlurmError)) throw error;
    await record({ problem: problemOf(error, state.answeredAt, now) });
  }
}

/** The nodes of the Ray that have a job, and whether experiments use them. */
async function joinedNodes(store: Store, { name, nodes }: Cluster): Promise<JoinedNode[]> {
  const { items } = await store.clusters.allocations(name);
  const used = new Set(items.map(({ node }) => node));
  return nodes.flatMap(({ id, labels = {} }) => {
    const job = labels[JOB_LABEL];
    return job === undefined ? [] : [{ job, node: id, busy: used.has(id) }];
  });
}

/** The last line that the first of the failed jobs has logged. */
async function whyFailed(
  { slurm, log }: RoundsDeps,
  place: SlurmPlace,
  cluster: string,
  [first]: readonly SlurmJob[],
): Promise<string | null> {
  if (first === undefined || first.job === null) return null;
  const text = await slurm.read(place, `${notesOf(place, cluster)}/${first.job}.log`);
  const line = text?.trim().split('\n').at(-1) ?? 'it logged nothing';
  const words = `job ${first.job} (${first.role}) ended as ${first.state}: ${line}`;
  log.warn({ cluster, job: first.job, state: first.state, line }, 'a job of Slurm brought no node');
  return words;
}

type Record_ = (change: Partial<SlurmState>) => Promise<boolean>;

/** Registers the Ray of a head, unless it is registered and answers. Returns its host:port, or null as long as there is none. */
async function register(
  { store, slurm }: RoundsDeps,
  { cluster, place, state }: { cluster: Cluster; place: SlurmPlace; state: SlurmState },
): Promise<string | null> {
  const job = state.jobs.find((one) => one.role === 'head' && isLive(one) && one.state === 'RUNNING');
  if (job === undefined || job.job === null) return null;
  const text = await slurm.read(place, `${notesOf(place, cluster.name)}/${job.job}.json`);
  const ray = text === null ? null : rayOfHead(text);
  if (ray === null) return null;
  const { head, client } = ray;
  const address = `ray://${client}`;
  if (cluster.ray?.address !== address || !cluster.answering) {
    const request: AddRequest = {
      address,
      sharedRoot: place.sharedRoot,
      node: null,
      port: null,
      advertise: null,
      backfill: cluster.backfill,
      repair: true,
    };
    await requestAdd(store, cluster.name, request, { token: state.token, tls: null } satisfies AddSecret);
  }
  return head;
}

/** Writes what the jobs of a cluster read: Ray's token, the commands before Ray, and the script itself. */
async function writeNotes(slurm: Slurm, { name, slurm: place }: Cluster, token: string): Promise<void> {
  const notes = notesOf(place!, name);
  await slurm.write(place!, `${notes}/token`, token);
  await slurm.write(place!, `${notes}/setup.sh`, place!.setup ?? '');
  await slurm.write(place!, `${notes}/node.sh`, readFileSync(SCRIPT, 'utf8'));
}

async function cancel(
  { slurm, log }: RoundsDeps,
  one: { place: SlurmPlace; job: SlurmJob; reason: string; record: Record_; state: () => SlurmState },
): Promise<void> {
  const { place, job, reason, record, state } = one;
  if (job.job === null) return;
  await record({ jobs: changed(state(), job.request, { cancelled: reason }) });
  await slurm.cancel(place, job.job);
  log.info({ job: job.job, reason }, 'cancelled a job of Slurm');
}

const changed = ({ jobs }: SlurmState, request: string, change: Partial<SlurmJob>): SlurmJob[] =>
  jobs.map((job) => (job.request === request ? { ...job, ...change } : job));

async function ask(
  { slurm, installation, log }: RoundsDeps,
  one: {
    cluster: Cluster;
    place: SlurmPlace;
    role: SlurmJob['role'];
    count: number;
    head: string | null;
    now: number;
    record: Record_;
    state: () => SlurmState;
  },
): Promise<void> {
  const { cluster, place, role, count, head, now, record, state } = one;
  const job: SlurmJob = {
    request: newRequestId(),
    role,
    count,
    askedAt: now,
    job: null,
    state: 'asked',
    reason: null,
    startsAt: null,
    runningSince: null,
    endsAt: null,
    head: role === 'node' ? head : null,
    endedAt: null,
    cancelled: null,
    node: null,
    idleSince: null,
  };
  const notes = notesOf(place, cluster.name);
  if (!(await record({ jobs: [...state().jobs, job] }))) return;
  try {
    const id = await slurm.submit(place, {
      name: `echelon-${cluster.name}-${role}`,
      comment: commentOf(installation, job),
      options: optionsOf(place, { role, count }, notes),
      script: `${notes}/node.sh`,
      args: argumentsOf(place, role, { notes, head }),
    });
    await record({ jobs: changed(state(), job.request, { job: id, state: 'PENDING' }) });
    log.info({ cluster: cluster.name, job: id, role }, 'asked Slurm for a job');
  } catch (error) {
    // After a refusal there is no job; after a silence the next rounds look for it.
    if (!(error instanceof SlurmError) || error.kind === 'silent') throw error;
    const { failedAt, jobs } = state();
    await record({
      jobs: jobs.filter(({ request }) => request !== job.request),
      failedAt: [...failedAt, now].slice(-MAX_FAILURES),
    });
    throw error;
  }
}

/** The options of `sbatch`, all from the record of the cluster. */
function optionsOf(
  place: SlurmPlace,
  { role, count }: Pick<SlurmJob, 'role' | 'count'>,
  notes: string,
): string[] {
  const { account, qos, constraint, exclusive, node, noticeSeconds } = place;
  const isHead = role === 'head';
  const stated = { account, qos, ...(!isHead && { constraint }) };
  return [
    `--partition=${isHead ? (place.headPartition ?? place.partition) : place.partition}`,
    ...Object.entries(stated).flatMap(([name, value]) => (value === null ? [] : [`--${name}=${value}`])),
    `--nodes=${count}`,
    '--ntasks-per-node=1',
    `--time=${isHead ? place.headMinutes : place.minutes}`,
    `--cpus-per-task=${isHead ? 1 : node.cpus}`,
    ...(isHead || node.gpus === 0 ? [] : [`--gpus-per-node=${node.gpus}`]),
    ...(isHead || node.memoryMb === null ? [] : [`--mem=${node.memoryMb}`]),
    ...(exclusive ? ['--exclusive'] : []),
    `--signal=B:USR1@${noticeSeconds}`,
    '--no-requeue',
    '--open-mode=append',
    '--export=HOME,PATH,USER,LANG,SHELL',
    `--output=${notes}/slurm-%j.out`,
  ];
}

function argumentsOf(
  { bin, node, exclusive }: SlurmPlace,
  role: SlurmJob['role'],
  { notes, head }: { notes: string; head: string | null },
): string[] {
  const [gpus, cpus] = role === 'head' ? [0, 0] : [node.gpus, node.cpus];
  return [role, notes, bin, head ?? '-', String(gpus), String(cpus), exclusive ? 'yes' : 'no'];
}
