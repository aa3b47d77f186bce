import type { StoredCheckpoint } from '../../core/launch-plan.ts';
import { STATES, type State } from '../../core/states.ts';
import { type Experiment, RECORD_VERSION } from '../../schemas/experiment.ts';
import type { Artifact } from '../../schemas/records.ts';
import { auditLog } from '../access/audit.ts';
import type { StoreContext } from '../context.ts';
import { guarded, runAll } from '../redis/errors.ts';
import type { Fields } from '../redis/fields.ts';
import type { Pressure } from '../redis/fitness.ts';
import { unlessChanged } from '../redis/revisions.ts';
import { type Admission, admissionLimits, admitted } from './admission.ts';
import { withDocuments } from './documents.ts';
import { createList } from './list.ts';
import { newExperiment } from './new-experiment.ts';
import { toExperiment } from './record.ts';
import type { CancelOutcome, SubmitInput } from './types.ts';

/** Experiments: their records, lists, versions, artifacts and deletion. */
export function createExperiments(context: StoreContext, pressure: Pressure) {
  const { redis, keys, run } = context;

  const getAll = (ids: readonly string[]) => readAll(context, ids);

  return {
    /** Record, queue position and first event in one step. `created` is false for a repeated idempotency key. */
    submit: (input: SubmitInput) => submit(context, pressure, input),

    async get(id: string): Promise<Experiment | undefined> {
      return (await getAll([id]))[0];
    },

    ...createList(context, getAll),

    async cancel(id: string, reason: string): Promise<CancelOutcome> {
      return (await run('cancel', [id, reason])) as CancelOutcome;
    },

    /**
     * Writes a note and tags in place of the former ones; undefined leaves one as it is. Throws `precondition-failed` if the
     * experiment has another `revision`.
     */
    annotate: (id: string, notes: NotesInput, revision?: number) =>
      annotate(context, { id, ...notes, revision }),

    /** Number of experiments by state: all, or those of a project. */
    async counts(project?: string): Promise<Record<State, number>> {
      const commands = redis.pipeline();
      const of = project === undefined ? {} : { project };
      for (const state of STATES) commands.zcard(keys.index({ ...of, state }));
      const replies = await runAll(commands);
      return Object.fromEntries(STATES.map((state, at) => [state, Number(replies[at])])) as Record<
        State,
        number
      >;
    },

    /**
     * Removes an experiment that has ended with all its data, in one step; its bytes in the archive are marked for deletion.
     * Counts of its sweep do not change. `not-ended`: nothing was changed. Throws `precondition-failed` if it has another
     * `revision`.
     */
    async delete(id: string, revision?: number): Promise<'deleted' | 'not-ended' | 'not-found'> {
      const answer = await unlessChanged(run('delete-experiment', [id, revision ?? '']));
      return answer as 'deleted' | 'not-ended' | 'not-found';
    },

    /**
     * Fails experiments whose deadline passed before a dispatcher acquired an attempt of them. Checks at most `limit`;
     * `more`: others may be due.
     */
    async failOverdue(limit: number): Promise<{ failed: string[]; more: boolean }> {
      const [checked, ...failed] = (await run('fail-overdue', [limit])) as [number, ...string[]];
      return { failed, more: checked === limit };
    },

    /** Those of the clusters on which a checkpoint was saved to, or read from, a checkpoint directory (`project/name`). */
    async checkpointClusters(directory: string, clusters: readonly string[]): Promise<string[]> {
      if (clusters.length === 0) return [];
      const fields = clusters.map((cluster) => `${cluster} ${directory}`);
      const found = await guarded(redis.smismember(keys.checkpoints, ...fields));
      return clusters.filter((_cluster, at) => found[at] === 1);
    },

    /** The newest checkpoints in the experiment's object store, in the order of their uploads. */
    storedCheckpoints: (id: string) => storedCheckpoints(context, id),

    /** Artifacts in the order of their recording, from number `from` (0) on; `more`: further ones exist. */
    async artifacts(id: string, from: number, limit: number): Promise<{ items: Artifact[]; more: boolean }> {
      if (limit <= 0) return { items: [], more: false };
      const list = `${keys.experiment(id)}:artifacts`;
      const found = await guarded(redis.lrange(list, from, from + limit));
      return {
        items: found.slice(0, limit).map((text) => JSON.parse(text) as Artifact),
        more: found.length > limit,
      };
    },
  };
}

async function storedCheckpoints({ redis, keys }: StoreContext, id: string): Promise<StoredCheckpoint[]> {
  const found = await guarded(redis.lrange(`${keys.experiment(id)}:stored`, 0, -1));
  return found.map((text) => JSON.parse(text) as StoredCheckpoint);
}

async function readAll(context: StoreContext, ids: readonly string[]): Promise<(Experiment | undefined)[]> {
  const { redis, keys } = context;
  if (ids.length === 0) return [];
  const commands = redis.pipeline();
  for (const id of ids) commands.hgetall(keys.experiment(id)).hgetall(keys.metrics(id));
  const replies = (await runAll(commands)) as Fields[];
  const hashes = ids.map((_id, at) => replies[2 * at] ?? {});
  const records = await withDocuments(context, hashes);
  return records.map((record, at) => toExperiment(record, replies[2 * at + 1] ?? {}));
}

interface NotesInput {
  note?: string | undefined;
  tags?: readonly string[] | undefined;
  /** Of a queued experiment. */
  priority?: number | undefined;
}

async function annotate(
  { run }: StoreContext,
  { id, note, tags, priority, revision }: NotesInput & { id: string; revision: number | undefined },
): Promise<'changed' | 'not-queued' | 'not-found'> {
  const fields = [...(note === undefined ? [] : ['note', note]), ...(tags ? ['tags', tags.join('\n')] : [])];
  const answer = await unlessChanged(run('annotate', [id, revision ?? '', priority ?? '', ...fields]));
  return answer as 'changed' | 'not-queued' | 'not-found';
}

async function submit(
  context: StoreContext,
  pressure: Pressure,
  input: SubmitInput,
): Promise<{ id: string; created: boolean }> {
  const { accepting, maxQueued, projectBytes } = await admissionLimits(context, pressure);
  const { audit, idempotency } = input;
  const fields = {
    ...newExperiment(input.id, input, input.fingerprint),
    project: input.project,
    owner: input.owner ?? '',
    rerunOf: input.rerunOf ?? '',
    version: RECORD_VERSION,
    key: idempotency?.name ?? '',
    digest: idempotency?.digest ?? '',
    accepting,
    maxQueued,
    projectBytes,
    ...(audit && { audit: auditLog(audit, { maxOfCaller: context.limits.auditOfCaller }) }),
  };
  const documents = [fields, input.submitted, input.resolved, input.defaults];
  const reply = await context.run(
    'submit',
    documents.map((document) => JSON.stringify(document)),
  );
  return admitted(reply as Admission, { projectField: '/project', maxQueued });
}
