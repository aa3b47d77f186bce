import { EchelonError } from '../../core/errors.ts';
import { EXPERIMENT_ID } from '../../core/ids.ts';
import type { StoreContext } from '../context.ts';
import { guarded } from './errors.ts';

/** Records that have a revision. */
export type RevisedKind = 'experiment' | 'project' | 'cluster';

/** The answer of a script that was given another revision than the record has. */
const CHANGED_SINCE = 'changed-since';

/** Revisions: how often users changed a record. */
export function createRevisions({ redis, keys }: StoreContext) {
  const read = (kind: RevisedKind, name: string) =>
    kind === 'experiment'
      ? redis.hget(keys.experiment(name), 'revision')
      : redis.hget(`${keys.root}:revisions`, `${kind}:${name}`);
  return {
    /**
     * The revision of an experiment (by id), a project or a cluster (by name): a number that only changes by users raise.
     * 0 before the first change, and without such a record. A write that names a revision is refused in its own step, with
     * EchelonError `precondition-failed`, if the record has a higher one.
     */
    async get(kind: RevisedKind, name: string): Promise<number> {
      // Other keys have the same prefix.
      if (kind === 'experiment' && !EXPERIMENT_ID.test(name)) return 0;
      return Number(await guarded(read(kind, name)));
    },
  };
}

/** EchelonError `precondition-failed`: the record has another revision than the change names. */
export function changedSince(): EchelonError {
  const problems = [{ field: 'if-match', message: 'is not the current ETag' }];
  const message = 'The record has changed since it was read. Read it again and send its current ETag.';
  return new EchelonError('precondition-failed', message, { problems });
}

/** The answer of a script that was given a revision; throws {@link changedSince} if the record has another one. */
export async function unlessChanged(answer: Promise<unknown>): Promise<unknown> {
  const outcome = await answer;
  if (outcome === CHANGED_SINCE) throw changedSince();
  return outcome;
}
